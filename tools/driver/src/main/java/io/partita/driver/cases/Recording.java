package io.partita.driver.cases;

import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * A run whose results differ from the recorded ones, as input for explanations.
 *
 * @param expected the recorded outputs by name
 * @param found the program's outputs by name, whose shapes count
 */
record Recording(
    OnnxModel model,
    ImportOptions options,
    Map<String, Tensor> inputs,
    Map<String, Tensor> expected,
    Map<String, Tensor> found,
    Tolerance tolerance) {
  /** A recorded output, in the shape of the program's. */
  Tensor expected(String name) {
    return expected.get(name).reshaped(found.get(name).shape());
  }

  /** The same with other outputs. */
  Recording of(Map<String, Tensor> others) {
    return new Recording(model, options, inputs, expected, others, tolerance);
  }

  /** The same with other recorded outputs. */
  Recording expecting(Map<String, Tensor> others) {
    return new Recording(model, options, inputs, others, found, tolerance);
  }

  Graph graph(ImportOptions imported) {
    return new OnnxImporter(imported).importModel(model).graph();
  }

  /** The outputs of an evaluation. */
  Map<String, Tensor> evaluated(
      Graph graph, BiFunction<Graph, List<Tensor>, List<Tensor>> evaluation) {
    List<Tensor> ordered =
        graph.inputs().stream()
            .map(input -> RecordedRun.fit(input.name(), inputs.get(input.name()), input.type()))
            .toList();
    List<Tensor> results = evaluation.apply(graph, ordered);
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      outputs.put(graph.outputs().get(i).name(), results.get(i));
    }
    return outputs;
  }
}
