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
 *
 * <p>A norm also follows a product or function whose result it normalises, in tiles of whole rows,
 * even if others read this result later: the residual of a transformer block. Then the group has
 * two results.
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
  private final Map<Node, Integer> order = new IdentityHashMap<>();

  /** The nodes that compute the sums of products, for the node that ends the product. */
  private final Map<Node, List<Node>> before = new IdentityHashMap<>();

  private final boolean joinsNorms;

  private Groups(Graph graph, boolean joinsNorms) {
    this.joinsNorms = joinsNorms;
    readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
    graph.nodes().forEach(node -> order.put(node, order.size()));
  }

  /**
   * Returns the groups: every node except constants is in exactly one of them, and groups are in
   * the order of their last nodes. They depend only on the structure and types of the graph, not on
   * the data of constants, so that the devices of a role have the same groups.
   *
   * @param graph a graph from {@link Legalization}
   * @param joinsNorms whether norms follow what they normalise in its loop
   */
  public static List<Group> of(Graph graph, boolean joinsNorms) {
    Groups groups = new Groups(graph, joinsNorms);
    Set<Node> inner = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Requantize requantize && groups.isOfInts(node, requantize)) {
        groups.before.put(node, groups.product(node.operand(0)));
        inner.addAll(groups.before.get(node));
      }
    }
    for (Node node : graph.nodes()) {
      Optional<Node> product = inner.contains(node) ? Optional.empty() : groups.biased(node);
      if (product.isPresent()) {
        groups.before.put(node, List.of(product.get()));
        inner.add(product.get());
      }
    }
    Map<Node, List<Node>> epilogues = groups.epilogues(graph, inner);
    Set<Node> ends = Collections.newSetFromMap(new IdentityHashMap<>());
    epilogues.values().forEach(ends::addAll);
    Map<Node, Group> made = new IdentityHashMap<>();
    for (Node node : graph.nodes()) {
      if (!(node.op() instanceof Source.Constant)
          && !inner.contains(node)
          && !ends.contains(node)) {
        List<Node> nodes = new ArrayList<>(groups.before.getOrDefault(node, List.of()));
        nodes.add(node);
        List<Node> rest = epilogues.getOrDefault(node, List.of());
        nodes.addAll(rest);
        made.put(nodes.getLast(), Group.of(nodes, rest.size(), groups.results(nodes, rest)));
      }
    }
    return graph.nodes().stream().filter(made::containsKey).map(made::get).toList();
  }

  /**
   * Returns the epilogues of each node that has any. A function of two products belongs to the
   * later one, and a function of a product and something else to the product. Chains of other nodes
   * begin at the first one that can begin one.
   */
  private Map<Node, List<Node>> epilogues(Graph graph, Set<Node> inner) {
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

  /** Returns the results of the last node, after the operand of a norm that others read, too. */
  private List<Value> results(List<Node> nodes, List<Node> epilogues) {
    List<Value> results = new ArrayList<>();
    epilogues.stream()
        .filter(Epilogues::isNorm)
        .map(norm -> norm.operand(0))
        .filter(values -> !isReadOnce(values))
        .forEach(results::add);
    results.addAll(nodes.getLast().results());
    return results;
  }

  private void follow(Node head, Set<Node> inner, Set<Node> taken, Map<Node, List<Node>> found) {
    List<Node> chain = new ArrayList<>();
    Optional<Node> next = next(head, chain);
    while (next.isPresent() && chain.size() < MAX_EPILOGUES) {
      boolean isHead = inner.contains(next.get()) || found.containsKey(next.get());
      if (isHead || !taken.add(next.get())) {
        break;
      }
      chain.add(next.get());
      next = next(head, chain);
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

  /** Returns the node that can follow a chain in the loop of its head. */
  private Optional<Node> next(Node head, List<Node> chain) {
    Value last = chain.isEmpty() ? head.result() : chain.getLast().result();
    List<Node> list = readers.getOrDefault(last, List.of());
    boolean isOther =
        head.op() instanceof Attention && list.stream().noneMatch(Groups::isQuantization);
    if (isReadOnce(last) && !isOther && Epilogues.isEpilogue(list.getFirst(), last)) {
      return Optional.of(list.getFirst()).filter(node -> isBeforeOthers(node, chain));
    }
    boolean mayJoin = joinsNorms && hasRows(head) && chain.stream().noneMatch(Epilogues::isNorm);
    return list.stream()
        .filter(node -> mayJoin && Epilogues.isNormOf(node, last))
        .findFirst()
        .filter(norm -> isBeforeOthers(norm, List.of(norm)));
  }

  /** Whether a node precedes the other readers of what a norm in a chain normalises. */
  private boolean isBeforeOthers(Node node, List<Node> chain) {
    return chain.stream()
        .filter(Epilogues::isNorm)
        .flatMap(norm -> readers.get(norm.operand(0)).stream().filter(each -> each != norm))
        .allMatch(other -> order.get(node) < order.get(other));
  }

  /** Whether a loop may have tiles of whole rows of its result. */
  private boolean hasRows(Node head) {
    List<Node> product = before.getOrDefault(head, List.of());
    return switch ((product.isEmpty() ? head : product.getFirst()).op()) {
      case Elementwise.Unary unary -> true;
      case Elementwise.Binary binary -> true;
      case Elementwise.Cast cast -> true;
      case Requantize requantize -> true;
      case Linear linear -> true;
      case Contraction.MatMul matMul -> true;
      case Contraction.NibbleMatMul matMul -> true;
      case null, default -> false;
    };
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
      boolean isVector = Epilogues.isAlongRow(bias, node.result());
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
