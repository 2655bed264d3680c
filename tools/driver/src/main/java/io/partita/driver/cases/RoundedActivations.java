package io.partita.driver.cases;

import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Explains differences of models whose products may round their activations to 8 bits (MatMulNBits
 * with accuracy_level 4). ONNX Runtime does so, programs of Partita are exact. Instead of a wide
 * tolerance there are two comparisons: what was recorded with an evaluation that rounds, and the
 * program with one that doesn't.
 */
final class RoundedActivations {
  /**
   * A rounding of the last bit may take an activation to the next of 255 levels, so that what was
   * recorded is not met as closely as without rounding: within a tenth of what rounding changes.
   */
  private static final double SHARE = 0.1;

  private RoundedActivations() {}

  /** The comparison of a program's outputs, where the one with what was recorded fails. */
  static Comparison explained(
      OnnxModel model,
      ImportOptions options,
      Map<String, Tensor> inputs,
      Map<String, Tensor> recorded,
      Map<String, Tensor> found,
      Tolerance tolerance,
      Comparison plain) {
    if (plain.passes() || !model.mayRoundActivations()) {
      return plain;
    }
    Map<String, Tensor> exact = evaluated(model, options, inputs);
    Map<String, Tensor> rounded = evaluated(model, options.withRoundedActivations(), inputs);
    double largest = 0;
    for (String name : found.keySet()) {
      Tensor record = recorded.get(name).reshaped(found.get(name).shape());
      double effect = largestDifference(exact.get(name), rounded.get(name));
      Comparison program = Comparison.of(name, exact.get(name), found.get(name), tolerance);
      boolean explains =
          program.passes()
              && (Comparison.of(name, record, rounded.get(name), tolerance).passes()
                  || largestDifference(record, rounded.get(name)) <= SHARE * effect);
      if (!explains) {
        return plain;
      }
      largest = Math.max(largest, effect);
    }
    return new Comparison(
        1,
        plain.maxError(),
        "",
        "exact; rounding activations to 8 bits, which accuracy_level 4 allows and the recorded run"
            + " did, changes results by up to %.3g".formatted(largest));
  }

  private static double largestDifference(Tensor a, Tensor b) {
    double largest = 0;
    for (int i = 0; i < a.size(); i++) {
      double difference = Math.abs(a.getDouble(i) - b.getDouble(i));
      largest = Double.isNaN(difference) ? Double.POSITIVE_INFINITY : Math.max(largest, difference);
    }
    return largest;
  }

  private static Map<String, Tensor> evaluated(
      OnnxModel model, ImportOptions options, Map<String, Tensor> inputs) {
    Graph graph = new OnnxImporter(options).importModel(model).graph();
    List<Tensor> ordered =
        graph.inputs().stream()
            .map(input -> RecordedRun.fit(input.name(), inputs.get(input.name()), input.type()))
            .toList();
    List<Tensor> results = Evaluator.run(graph, ordered);
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      outputs.put(graph.outputs().get(i).name(), results.get(i));
    }
    return outputs;
  }
}
