package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A folder of ONNX's node tests: a model, and recorded inputs and outputs. */
record ConformanceCase(Path folder) {
  /** ONNX's own tolerance for these tests. */
  private static final double RELATIVE = 1e-3;

  private static final double ABSOLUTE = 1e-7;

  static List<ConformanceCase> in(Path folder) throws IOException {
    try (var entries = Files.list(folder)) {
      return entries
          .filter(entry -> Files.exists(entry.resolve("model.onnx")))
          .sorted()
          .map(ConformanceCase::new)
          .toList();
    }
  }

  String name() {
    return folder.getFileName().toString();
  }

  /** Returns the error, if any. */
  Optional<String> run() throws IOException {
    OnnxModel model = OnnxModel.read(folder.resolve("model.onnx"));
    List<Path> sets;
    try (var entries = Files.list(folder)) {
      sets = entries.filter(Files::isDirectory).sorted().toList();
    }
    for (Path set : sets) {
      Optional<String> failure = run(model, set);
      if (failure.isPresent()) {
        return failure;
      }
    }
    return sets.isEmpty() ? Optional.of("no recorded data") : Optional.empty();
  }

  private static Optional<String> run(OnnxModel model, Path set) throws IOException {
    Map<String, Tensor> inputs = new HashMap<>();
    List<Path> files = files(set, "input_");
    for (int i = 0; i < files.size(); i++) {
      inputs.put(
          model.proto().getGraph().getInput(i).getName(), TensorFile.read(files.get(i)).tensor());
    }
    ImportOptions options =
        ImportOptions.NONE.bindShapeInputs(input -> Optional.ofNullable(inputs.get(input)));
    for (Map.Entry<String, Tensor> input : inputs.entrySet()) {
      options = options.withShape(input.getKey(), input.getValue().shape());
    }
    List<Tensor> results;
    try {
      Graph graph = new OnnxImporter(options).importModel(model).graph();
      List<Tensor> given = new ArrayList<>();
      for (Value input : graph.inputs()) {
        given.add(inputs.get(input.name()));
      }
      results = Evaluator.run(graph, given);
    } catch (PartitaException failure) {
      return Optional.of(failure.getMessage());
    }
    List<Path> expected = files(set, "output_");
    for (int i = 0; i < expected.size(); i++) {
      Optional<String> difference =
          difference(TensorFile.read(expected.get(i)).tensor(), results.get(i));
      if (difference.isPresent()) {
        return difference.map(text -> "output: " + text);
      }
    }
    return Optional.empty();
  }

  private static List<Path> files(Path set, String prefix) throws IOException {
    try (var entries = Files.list(set)) {
      return entries
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .sorted(Comparator.comparingInt(ConformanceCase::number))
          .toList();
    }
  }

  private static int number(Path file) {
    return Integer.parseInt(file.getFileName().toString().replaceAll("\\D", ""));
  }

  private static Optional<String> difference(Tensor expected, Tensor found) {
    if (!expected.type().equals(found.type())) {
      return Optional.of("expected " + expected.type() + ", found " + found.type());
    }
    for (int i = 0; i < expected.size(); i++) {
      double e = expected.getDouble(i);
      double f = found.getDouble(i);
      boolean same =
          expected.element().isFloat()
              ? Double.compare(e, f) == 0 || Math.abs(e - f) <= ABSOLUTE + RELATIVE * Math.abs(e)
              : expected.getLong(i) == found.getLong(i);
      if (!same) {
        return Optional.of("element " + i + " of " + expected.type() + ": " + e + ", found " + f);
      }
    }
    return Optional.empty();
  }
}
