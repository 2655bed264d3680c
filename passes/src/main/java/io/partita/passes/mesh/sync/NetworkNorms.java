package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Adds outputs with the squared norm of the term of each device's part of the feed-forward network,
 * for each block.
 */
public final class NetworkNorms {
  private static final String OUTPUT = "partita.network.";

  private NetworkNorms() {}

  /**
   * The measuring module.
   *
   * @param places the number of devices over which the network is split, by block
   */
  public record Measuring(Module module, Map<Integer, Integer> places) implements Statistics {
    @Override
    public int outputs() {
      return places.size();
    }

    /** Returns the squared norms of a run, by block and device. */
    public Map<Integer, double[]> squares(Map<String, Tensor> outputs) {
      Map<Integer, double[]> squares = new TreeMap<>();
      places.keySet().forEach(block -> squares.put(block, outputs.get(OUTPUT + block).doubles()));
      return squares;
    }
  }

  /**
   * @param module a module of the mesh dialect
   * @param blocks the blocks to measure
   */
  public static Measuring of(Module module, Set<Integer> blocks) {
    LayoutInference layouts = LayoutInference.of(module);
    GraphEditor graph = new GraphEditor(module.graph());
    Map<Integer, Integer> places = new TreeMap<>();
    BlockNumbers numbers = BlockNumbers.of(module.graph());
    for (Node node : module.graph().nodes()) {
      int block = numbers.of(node);
      if (node.op() instanceof Structured.Ffn && blocks.contains(block)) {
        Layout layout = layouts.layout(node.result());
        if (!layout.partial().isEmpty()) {
          SumSync sum = sum(node, layout, block);
          graph.before(node);
          graph.addOutput(OUTPUT + block, squares(node, layout, sum, graph));
          places.put(block, sum.places());
        }
      }
    }
    return new Measuring(module.with(graph.freeze()), places);
  }

  private static SumSync sum(Node node, Layout layout, int block) {
    List<String> axes =
        layout.mesh().axes().stream()
            .map(axis -> axis.name())
            .filter(layout.partial()::containsKey)
            .toList();
    return new SumSync(node, block, axes, axes.stream().map(layout.mesh()::size).toList());
  }

  /** Returns the norms {@code f32[places]}. */
  private static Value squares(Node network, Layout layout, SumSync sum, GraphEditor graph) {
    Structured.Ffn op = (Structured.Ffn) network.op();
    Structured.Ffn unbiased =
        new Structured.Ffn(op.activation(), op.gated(), op.gateBias(), op.upBias(), false);
    List<Value> operands = new ArrayList<>(network.operands());
    if (op.downBias()) {
      operands.removeLast();
    }
    Value own = graph.add(unbiased, operands);
    for (String axis : layout.varying()) {
      own = graph.add(new Communication.Settle(axis, new Exit.Term()), own);
    }
    Value stacked = SumTerms.stacked(own, sum, graph);
    long elements = network.result().type().shape().elements();
    Value lines = graph.add(new Movement.Reshape(Shape.of(sum.places(), elements)), stacked);
    Value wide =
        lines.type().element() == ElementType.F32
            ? lines
            : graph.add(new Elementwise.Cast(ElementType.F32), lines);
    Value square = graph.add(new Elementwise.Binary(BinaryFunction.MUL), wide, wide);
    return graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1), false), square);
  }
}
