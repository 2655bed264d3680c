package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Adds outputs with the inner products of the attention scores of heads in each block. Scores are
 * obtained as attention with unit vectors as values.
 */
public final class HeadStatistics {
  private static final String OUTPUT = "partita.heads.";

  private HeadStatistics() {}

  /**
   * The measuring module.
   *
   * @param heads the number of kv heads, by block
   */
  public record Measuring(Module module, Map<Integer, Integer> heads) implements Statistics {
    @Override
    public int outputs() {
      return heads.size();
    }

    /**
     * Returns the inner products {@code [heads][heads]} of the scores of kv heads in a run, by
     * block.
     */
    public Map<Integer, double[][]> products(Map<String, Tensor> outputs) {
      Map<Integer, double[][]> products = new TreeMap<>();
      heads.forEach(
          (block, count) -> {
            double[] data = outputs.get(OUTPUT + block).doubles();
            double[][] matrix = new double[count][count];
            for (int i = 0; i < data.length; i++) {
              matrix[i / count][i % count] = data[i];
            }
            products.put(block, matrix);
          });
      return products;
    }
  }

  /** Returns the Euclidean distances of vectors from their inner products. */
  public static double[][] distances(double[][] products) {
    double[][] distances = new double[products.length][products.length];
    for (int i = 0; i < products.length; i++) {
      for (int j = 0; j < products.length; j++) {
        double square = products[i][i] + products[j][j] - 2 * products[i][j];
        distances[i][j] = Math.sqrt(Math.max(0, square));
      }
    }
    return distances;
  }

  /**
   * @param module a module of the graph dialect
   * @param blocks the blocks to measure
   */
  public static Measuring of(Module module, Set<Integer> blocks) {
    GraphEditor graph = new GraphEditor(module.graph());
    Map<Integer, Integer> heads = new TreeMap<>();
    BlockNumbers numbers = BlockNumbers.of(module.graph());
    for (Node node : module.graph().nodes()) {
      int block = numbers.of(node);
      if (BlockNumbers.isAttention(node) && blocks.contains(block)) {
        graph.before(node);
        graph.addOutput(OUTPUT + block, products(node, graph));
        heads.put(block, Math.toIntExact(node.operand(1).type().dim(1).value()));
      }
    }
    return new Measuring(module.with(graph.freeze()), heads);
  }

  /**
   * Returns the inner products in f32 {@code [kv heads, kv heads]} of scores {@code [batch, heads,
   * seq, keys]}.
   */
  private static Value products(Node attention, GraphEditor graph) {
    TensorType keys = attention.operand(1).type();
    int count = Math.toIntExact(keys.dim(2).value());
    List<Value> operands = new ArrayList<>(attention.operands());
    Value units = graph.constant(units(keys.element(), count));
    Shape each = keys.shape().with(3, keys.dim(2));
    operands.set(2, graph.add(new Movement.Broadcast(each), units));
    Value scores = graph.add(attention.op(), operands);
    Value byHead = graph.add(new Movement.Transpose(List.of(1, 0, 2, 3)), scores);
    long heads = keys.dim(1).value();
    Shape lines = Shape.of(heads, scores.type().shape().elements() / heads);
    Value matrix = graph.add(new Movement.Reshape(lines), byHead);
    Value wide =
        keys.element() == ElementType.F32
            ? matrix
            : graph.add(new Elementwise.Cast(ElementType.F32), matrix);
    Value transposed = graph.add(new Movement.Transpose(List.of(1, 0)), wide);
    return graph.add(new Contraction.MatMul(ElementType.F32), wide, transposed);
  }

  private static Tensor units(ElementType element, int count) {
    double[] data = new double[count * count];
    for (int i = 0; i < count; i++) {
      data[i * count + i] = 1;
    }
    return Tensor.ofDoubles(TensorType.of(element, 1, 1, count, count), data);
  }
}
