package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.op.Structured.Linear;
import io.partita.ir.op.Structured.Norm;
import io.partita.ir.op.Structured.RotaryEmbedding;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Groups the nodes of a legal graph into loops. An integer product forms a group with the addition
 * of a vector along the columns, and with the requantization of these sums; a convolution with the
 * requantization. A product or convolution, requantized or not, also forms a group with its
 * epilogues: elementwise functions of its result and possibly other operands, such as activations,
 * residuals, gates, requantizations and tables. So do an elementwise function, a requantization, a
 * lookup, a norm or softmax of integers, and a norm or rotary embedding of floats or an attention
 * of integers that is quantized. Every other node is a group of its own.
 */
public final class Groups {
  private static final Set<ElementType> REQUANTIZED =
      Set.of(ElementType.I8, ElementType.U8, ElementType.I32);

  /**
   * The largest number of epilogues; each may have an operand, which needs room in the working
   * memory.
   */
  private static final int MAX_EPILOGUES = 8;

  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  private Groups(Graph graph) {
    readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /**
   * Returns the groups: every node except constants is in exactly one of them, and groups are in
   * the order of their last nodes. They depend only on the structure and types of the graph, not on
   * the data of constants, so that the devices of a role have the same groups.
   *
   * @param graph a graph from {@link Legalization}
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
    for (Node node : graph.nodes()) {
      Optional<Node> product = inner.contains(node) ? Optional.empty() : groups.biased(node);
      if (product.isPresent()) {
        before.put(node, List.of(product.get()));
        inner.add(product.get());
      }
    }
    Map<Node, List<Node>> epilogues = groups.epilogues(graph, before, inner);
    Set<Node> ends = Collections.newSetFromMap(new IdentityHashMap<>());
    epilogues.values().forEach(ends::addAll);
    Map<Node, Group> made = new IdentityHashMap<>();
    for (Node node : graph.nodes()) {
      if (!(node.op() instanceof Source.Constant)
          && !inner.contains(node)
          && !ends.contains(node)) {
        List<Node> nodes = new ArrayList<>(before.getOrDefault(node, List.of()));
        nodes.add(node);
        List<Node> rest = epilogues.getOrDefault(node, List.of());
        nodes.addAll(rest);
        made.put(nodes.getLast(), Group.of(nodes, rest.size()));
      }
    }
    return graph.nodes().stream().filter(made::containsKey).map(made::get).toList();
  }

  /**
   * Returns the epilogues of each node that has any. A function of two products belongs to the
   * later one, and a function of a product and something else to the product. Chains of other nodes
   * begin at the first one that can begin one.
   */
  private Map<Node, List<Node>> epilogues(
      Graph graph, Map<Node, List<Node>> before, Set<Node> inner) {
    Set<Value> known = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Source || known.containsAll(node.operands())) {
        known.addAll(node.results());
      }
    }
    Map<Node, List<Node>> found = new IdentityHashMap<>();
    Set<Node> taken = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.nodes().reversed()) {
      boolean isProduct = isProduct(node) || !before.getOrDefault(node, List.of()).isEmpty();
      if (isProduct && !inner.contains(node) && !known.contains(node.result())) {
        follow(node, inner, taken, found);
      }
    }
    for (Node node : graph.nodes()) {
      boolean isFree = !found.containsKey(node) && !inner.contains(node) && !taken.contains(node);
      if (isFree && Epilogues.isHead(node) && !known.contains(node.result())) {
        follow(node, inner, taken, found);
      }
    }
    return found;
  }

  private void follow(Node head, Set<Node> inner, Set<Node> taken, Map<Node, List<Node>> found) {
    List<Node> chain = new ArrayList<>();
    Value last = head.result();
    while (isReadOnce(last) && chain.size() < MAX_EPILOGUES) {
      Node reader = readers.get(last).getFirst();
      boolean isHead = inner.contains(reader) || found.containsKey(reader);
      boolean isOther = head.op() instanceof Attention && !isQuantization(reader);
      if (isHead || isOther || !Epilogues.isEpilogue(reader, last) || !taken.add(reader)) {
        break;
      }
      chain.add(reader);
      last = reader.result();
    }
    boolean isOfVectors = head.op() instanceof Norm || head.op() instanceof RotaryEmbedding;
    if (isOfVectors && chain.stream().noneMatch(Groups::isQuantization)) {
      chain.forEach(taken::remove);
      chain.clear();
    }
    while (!chain.isEmpty() && Epilogues.isView(chain.getLast())) {
      taken.remove(chain.removeLast());
    }
    if (!chain.isEmpty()) {
      found.put(head, chain);
    }
  }

  private static boolean isQuantization(Node node) {
    return node.op() instanceof Quantize;
  }

  private static boolean isProduct(Node node) {
    return node.op() instanceof Linear
        || node.op() instanceof Contraction.MatMul
        || node.op() instanceof Contraction.NibbleMatMul
        || node.op() instanceof Contraction.Convolution;
  }

  private boolean isOfInts(Node node, Requantize requantize) {
    return REQUANTIZED.contains(requantize.to())
        && node.operands().stream().allMatch(value -> value.type().element() == ElementType.I32);
  }

  /** Returns the nodes that compute {@code sums} for its single user; empty if it has others. */
  private List<Node> product(Value sums) {
    if (sums.isInput() || !isReadOnce(sums)) {
      return List.of();
    }
    Node node = sums.definition();
    boolean isProduct =
        node.op() instanceof Contraction.MatMul || node.op() instanceof Contraction.Convolution;
    return isProduct
        ? List.of(node)
        : biased(node).map(product -> List.of(product, node)).orElse(List.of());
  }

  /** Returns the product of integers to which a node adds a vector along the columns. */
  private Optional<Node> biased(Node node) {
    return withBias(node)
        .filter(products -> !products.isInput() && isReadOnce(products))
        .filter(products -> products.type().element() == ElementType.I32)
        .map(Value::definition)
        .filter(product -> product.op() instanceof Contraction.MatMul);
  }

  /** Returns the operand of an addition whose other operand is a vector along the last axis. */
  private static Optional<Value> withBias(Node node) {
    if (!(node.op() instanceof Elementwise.Binary(var function))
        || function != BinaryFunction.ADD) {
      return Optional.empty();
    }
    for (int i = 0; i < 2; i++) {
      Value sums = node.operand(i);
      Value bias = node.operand(1 - i);
      int rank = sums.type().rank();
      boolean isVector =
          bias.type().rank() > 0
              && bias.type().shape().fromEnd(0).equals(node.result().type().shape().fromEnd(0))
              && bias.type().shape().elements() == bias.type().shape().fromEnd(0).value();
      if (rank > 1 && isVector && sums.type().equals(node.result().type())) {
        return Optional.of(sums);
      }
    }
    return Optional.empty();
  }

  /** Whether a value has a single use, by a node. */
  private boolean isReadOnce(Value value) {
    List<Node> list = readers.getOrDefault(value, List.of());
    return !outputs.contains(value)
        && list.size() == 1
        && list.getFirst().operands().stream().filter(operand -> operand == value).count() == 1;
  }
}
