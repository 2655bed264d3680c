package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.passes.ModulePass;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Changes the assignment of attention heads to devices, as in "SPD: Sync-Point Drop for Efficient
 * Tensor Parallelism of Large Language Models", section 4.2.4: columns of the weights of queries,
 * keys and values, and rows of the output projection, are permuted before they are split. A kv head
 * moves together with the query heads that use it. The function of the model does not change.
 */
public final class ReorderHeads implements ModulePass {
  private final Map<Integer, List<Integer>> orders;

  /**
   * @param orders the new order of kv heads, by block
   */
  public ReorderHeads(Map<Integer, List<Integer>> orders) {
    this.orders = Map.copyOf(orders);
  }

  @Override
  public String name() {
    return "reorder-heads";
  }

  @Override
  public String purpose() {
    return "move attention heads to other devices";
  }

  /**
   * @param module a module of the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#HEADS} if heads can't be
   *     moved
   */
  @Override
  public Module run(Module module) {
    LayoutInference layouts = LayoutInference.of(module);
    Map<Value, List<Node>> readers = module.graph().readers();
    BlockNumbers blocks = BlockNumbers.of(module.graph());
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      int block = blocks.of(node);
      if (BlockNumbers.isAttention(node) && orders.containsKey(block)) {
        new Reordering(module, node, block, orders.get(block), layouts, readers, graph).run();
      }
    }
    return module.with(graph.freeze());
  }

  /** The rewrite of one attention. */
  private record Reordering(
      Module module,
      Node attention,
      int block,
      List<Integer> order,
      LayoutInference layouts,
      Map<Value, List<Node>> readers,
      GraphEditor graph) {
    void run() {
      long heads = attention.operand(1).type().dim(1).value();
      if (order.size() != heads
          || !order.stream().sorted().toList().equals(sequence(order.size()))) {
        throw refused("an order of its " + heads + " kv heads", order.toString());
      }
      for (Node node : whatIsSplitByHeads()) {
        if (node.op() instanceof Communication.Reshard
            && node.operand(0).definition() != null
            && node.operand(0).definition().op() instanceof Source.Constant(Tensor data)) {
          graph.before(node);
          Value reordered = graph.constant(reordered(data, dimension(node)));
          graph.replace(node.result(), graph.add(node.op(), reordered));
        }
      }
    }

    private static List<Integer> sequence(int size) {
      return IntStream.range(0, size).boxed().toList();
    }

    /**
     * Returns the nodes that compute heads: from the projections of queries, keys and values to the
     * output projection.
     */
    private Set<Node> whatIsSplitByHeads() {
      Set<Node> found = Collections.newSetFromMap(new IdentityHashMap<>());
      ArrayDeque<Node> open = new ArrayDeque<>(List.of(attention));
      while (!open.isEmpty()) {
        Node node = open.removeFirst();
        if (!found.add(node)) {
          continue;
        }
        boolean isOther =
            node.op() instanceof Communication.Sync
                || node.op() instanceof Structured.Attention && node != attention;
        if (isOther) {
          throw refused("heads that stay on their devices", node.toString());
        }
        for (Value operand : node.operands()) {
          if (isSplit(operand)) {
            if (operand.definition() == null) {
              requireState(operand);
            } else {
              open.add(operand.definition());
            }
          }
        }
        for (Value result : node.results()) {
          if (isSplit(result)) {
            open.addAll(readers.getOrDefault(result, List.of()));
          }
        }
      }
      for (Graph.Output output : module.graph().outputs()) {
        boolean isState =
            module.states().stream().anyMatch(state -> state.output().equals(output.name()));
        if (!isState && found.contains(output.value().definition())) {
          throw refused("heads that the outputs don't have", "output \"" + output.name() + "\"");
        }
      }
      return found;
    }

    private void requireState(Value input) {
      if (module.states().stream().noneMatch(state -> state.input().equals(input.name()))) {
        throw refused("a KV cache that is a state", "input \"" + input.name() + "\"");
      }
    }

    private boolean isSplit(Value value) {
      return layouts.layout(value).splits().stream().anyMatch(split -> !split.isNone());
    }

    private int dimension(Node reshard) {
      Layout to = layouts.layout(reshard.result());
      int[] dims =
          IntStream.range(0, to.rank()).filter(dim -> !to.splits().get(dim).isNone()).toArray();
      long extent = dims.length == 1 ? to.splits().get(dims[0]).extent() : 0;
      if (extent == 0 || extent % order.size() != 0 || !isWhole(to.splits().get(dims[0]))) {
        throw refused("weights that are split between heads", reshard + " to " + to);
      }
      return dims[0];
    }

    /** Whether all parts have the same number of elements. */
    private static boolean isWhole(Split split) {
      return IntStream.range(0, split.parts()).allMatch(part -> split.size(part) == split.size(0));
    }

    private Tensor reordered(Tensor data, int dim) {
      int unit = Math.toIntExact(data.shape().dim(dim).value()) / order.size();
      long[] indices = new long[unit * order.size()];
      for (int i = 0; i < indices.length; i++) {
        indices[i] = (long) order.get(i / unit) * unit + i % unit;
      }
      GraphBuilder builder = new GraphBuilder("reorder");
      Value given = builder.add(new Source.Constant(data), List.of());
      Value by = builder.constant(Tensor.longs(Shape.of(indices.length), indices));
      builder.output("reordered", builder.add(new Movement.Gather(dim), List.of(given, by)));
      return Evaluator.run(builder.finish(), List.of()).getFirst();
    }

    private PartitaException refused(String expected, String found) {
      return SyncCode.HEADS.at(
          "block " + block + ", " + attention,
          expected,
          found,
          "exclude the block from reordering");
    }
  }
}
