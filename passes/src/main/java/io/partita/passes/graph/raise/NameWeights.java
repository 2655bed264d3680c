package io.partita.passes.graph.raise;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Renames weights that an exporter has numbered, such as {@code onnx::MatMul_874}, after the module
 * that uses them: {@code layers.0.self_attn.q_proj.weight} for the weight of {@code
 * /layers.0/self_attn/q_proj/MatMul}. Other weights keep their names.
 */
final class NameWeights {
  /** A name given by PyTorch's exporters: {@code onnx::MatMul_874}, or only a number. */
  private static final String NUMBERED = "onnx::.*|(_?val_)?\\d+(_quantized)?";

  private NameWeights() {}

  static void apply(GraphEditor graph) {
    Map<Value, Node> readers = new IdentityHashMap<>();
    Set<String> names = new HashSet<>();
    for (Node node : graph.nodes()) {
      names.add(node.name());
      graph.operands(node).forEach(operand -> readers.putIfAbsent(operand, node));
    }
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Source.Constant(Tensor data)
          && data.type().rank() > 0
          && node.name().matches(NUMBERED)
          && readers.containsKey(node.result())) {
        String name = name(reader(node.result(), readers).name(), data);
        if (!name.isEmpty() && names.add(name)) {
          graph.before(node).named(name);
          graph.replace(node.result(), graph.constant(data));
        }
      }
    }
  }

  /** Returns the node that reads a weight, or the numbers for which its integers stand. */
  private static Node reader(Value weight, Map<Value, Node> readers) {
    Node reader = readers.get(weight);
    boolean areIntegers =
        reader.op() instanceof Quantized.Dequantize && reader.operand(0) == weight;
    return areIntegers ? readers.getOrDefault(reader.result(), reader) : reader;
  }

  /** Returns the name of the weight; empty if the user's name has no path. */
  private static String name(String reader, Tensor data) {
    String path = reader.startsWith("/") ? reader.substring(1) : reader;
    int end = path.lastIndexOf('/');
    String kind = data.type().rank() > 1 ? "weight" : "bias";
    return end < 0 ? "" : path.substring(0, end).replace('/', '.') + "." + kind;
  }
}
