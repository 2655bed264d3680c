package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Source;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which nodes of a legal graph one loop computes: a product or convolution of integers with the
 * requantization of its sums, and in between perhaps the sum with a vector along the columns; of
 * all others each by itself.
 */
public final class Groups {
  private static final Set<ElementType> REQUANTIZED =
      Set.of(ElementType.I8, ElementType.U8, ElementType.I32);

  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  private Groups(Graph graph) {
    readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /**
   * Every node but for the constants is in exactly one group; a group stands where its last node
   * does. It depends on the graph's structure and types alone, not on the data of constants, so
   * that devices of one role have the same groups.
   *
   * @param graph as {@link Legalization} leaves it
   */
  public static List<Group> of(Graph graph) {
    Groups groups = new Groups(graph);
    Map<Node, List<Node>> before = new IdentityHashMap<>();
    Set<Node> inner = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Requantize requantize && groups.isOfInts(node, requantize)) {
        before.put(node, groups.product(node.operand(0)));
        inner.addAll(before.get(node));
      }
    }
    return graph.nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant) && !inner.contains(node))
        .map(node -> Stream.concat(before.getOrDefault(node, List.of()).stream(), Stream.of(node)))
        .map(nodes -> Group.of(nodes.toList()))
        .toList();
  }

  private boolean isOfInts(Node node, Requantize requantize) {
    return REQUANTIZED.contains(requantize.to())
        && node.operands().stream().allMatch(value -> value.type().element() == ElementType.I32);
  }

  /** The nodes that sum products for nobody but the reader of {@code sums}; none if it's others. */
  private List<Node> product(Value sums) {
    List<Node> nodes = new ArrayList<>();
    Value products = sums;
    if (isSum(sums)) {
      nodes.add(sums.definition());
      products = withBias(sums.definition());
    }
    if (products == null || products.isInput() || !isReadOnce(sums) || !isReadOnce(products)) {
      return List.of();
    }
    Node product = products.definition();
    nodes.addFirst(product);
    boolean isProduct =
        product.op() instanceof Contraction.MatMul
            || product.op() instanceof Contraction.Convolution && nodes.size() == 1;
    return isProduct ? nodes : List.of();
  }

  private static boolean isSum(Value value) {
    return !value.isInput()
        && value.definition().op() instanceof Elementwise.Binary(var function)
        && function == BinaryFunction.ADD;
  }

  /** The operand of a sum to which the other one is a vector along the last axis, or null. */
  private static Value withBias(Node sum) {
    for (int i = 0; i < 2; i++) {
      Value sums = sum.operand(i);
      Value bias = sum.operand(1 - i);
      int rank = sums.type().rank();
      boolean isVector =
          bias.type().rank() > 0
              && bias.type().shape().fromEnd(0).equals(sum.result().type().shape().fromEnd(0))
              && bias.type().shape().elements() == bias.type().shape().fromEnd(0).value();
      if (rank > 1 && isVector && sums.type().equals(sum.result().type())) {
        return sums;
      }
    }
    return null;
  }

  /** Whether one node reads it, once, and no output is it. */
  private boolean isReadOnce(Value value) {
    List<Node> list = readers.getOrDefault(value, List.of());
    return !outputs.contains(value)
        && list.size() == 1
        && list.getFirst().operands().stream().filter(operand -> operand == value).count() == 1;
  }
}
