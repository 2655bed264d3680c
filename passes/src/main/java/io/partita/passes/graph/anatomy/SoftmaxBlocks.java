package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.AttentionCandidates.Found;
import io.partita.passes.graph.raise.linear.FfnOperands;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The blocks of a transformer whose attentions aren't one operation, such as those of quantised
 * networks, which round values between the products.
 *
 * <p>Everything is found from the softmaxes and the products with weights, whatever their element
 * types are.
 */
final class SoftmaxBlocks {
  private static final int MAX_STEPS = 64;

  /**
   * A block, by its nodes.
   *
   * @param attention the product of queries and keys, the softmax, and the product with the values
   * @param roles of products with weights, norms and residual sums
   */
  record SoftmaxBlock(List<Node> attention, Map<Node, String> roles) {}

  private final Graph graph;
  private final Flow flow;
  private final List<Found> attentions;
  private final List<SoftmaxBlock> blocks = new ArrayList<>();
  private final Map<Node, String> products = new IdentityHashMap<>();
  private final Map<Value, Integer> last = new IdentityHashMap<>();

  private SoftmaxBlocks(Graph graph, Flow flow, List<Found> attentions) {
    this.graph = graph;
    this.flow = flow;
    this.attentions = attentions;
  }

  /**
   * Returns the blocks in the order of their softmaxes.
   *
   * @param attentions the softmaxes between two products, in order
   */
  static List<SoftmaxBlock> of(Graph graph, Flow flow, List<Found> attentions) {
    SoftmaxBlocks made = new SoftmaxBlocks(graph, flow, attentions);
    attentions.forEach(made::attention);
    made.countAttentions();
    graph.nodes().forEach(made::network);
    made.norms();
    return made.blocks;
  }

  private void attention(Found found) {
    SoftmaxBlock block =
        new SoftmaxBlock(
            List.of(found.scores(), found.node(), found.context()), new IdentityHashMap<>());
    blocks.add(block);
    Optional<Node> query = nearest(found.scores().operand(0), true);
    Optional<Node> key = nearest(found.scores().operand(1), true);
    query.ifPresent(
        node -> product(block, node, query.equals(key) ? BlockRoles.FUSED : BlockRoles.QUERY));
    key.ifPresent(node -> product(block, node, BlockRoles.KEY));
    boolean isFirst = flow.depends(found.context().operand(0), found.node().result());
    nearest(found.context().operand(isFirst ? 1 : 0), true)
        .ifPresent(node -> product(block, node, BlockRoles.VALUE));
    flow.nearestBelow(found.context().result(), this::isCarried, this::isWeighted)
        .filter(node -> !products.containsKey(node))
        .ifPresent(
            node -> {
              product(block, node, BlockRoles.OUTPUT);
              residual(block, node);
            });
  }

  private void product(SoftmaxBlock block, Node node, String role) {
    if (products.putIfAbsent(node, role) == null) {
      block.roles.put(node, role);
    }
  }

  /** The sum of what a product gives with what runs past it. */
  private void residual(SoftmaxBlock block, Node product) {
    flow.nearestBelow(product.result(), this::isCarried, this::isSum)
        .ifPresent(sum -> block.roles.putIfAbsent(sum, BlockRoles.RESIDUAL));
  }

  private void countAttentions() {
    Map<Node, Integer> ends = new IdentityHashMap<>();
    for (int i = 0; i < attentions.size(); i++) {
      ends.put(attentions.get(i).context(), i);
    }
    for (Node node : graph.nodes()) {
      int latest = ends.getOrDefault(node, -1);
      for (Value operand : node.operands()) {
        latest = Math.max(latest, last.getOrDefault(operand, -1));
      }
      for (Value result : node.results()) {
        last.put(result, latest);
      }
    }
  }

  /** A feed-forward network ends with a product that gives as many features as it takes. */
  private void network(Node down) {
    if (!isWeighted(down) || products.containsKey(down)) {
      return;
    }
    Value input = input(down);
    List<Node> ups = sources(input, false);
    boolean isNetwork =
        !ups.isEmpty()
            && ups.size() <= 2
            && ups.stream().noneMatch(products::containsKey)
            && ups.stream().allMatch(up -> features(input(up)).equals(features(down.result())));
    if (!isNetwork) {
      return;
    }
    int index = blockOf(down, ups.getFirst());
    if (index < 0) {
      return;
    }
    SoftmaxBlock block = blocks.get(index);
    Optional<Node> gate = ups.size() == 2 ? gate(input) : Optional.empty();
    ups.forEach(
        up ->
            product(
                block,
                up,
                gate.filter(found -> found == up).isPresent() ? BlockRoles.GATE : BlockRoles.UP));
    product(block, down, BlockRoles.DOWN);
    residual(block, down);
  }

  /** That of the last attention before the network, or of one that reads the same residual. */
  private int blockOf(Node down, Node up) {
    int before = last.getOrDefault(down.result(), -1);
    Value residual = Flow.residualOf(input(up));
    for (int index = before + 1; index < blocks.size(); index++) {
      boolean isBeside =
          blocks.get(index).roles.keySet().stream()
              .filter(this::isWeighted)
              .anyMatch(node -> Flow.residualOf(input(node)) == residual);
      if (isBeside && !flow.depends(attentions.get(index).context().result(), down.result())) {
        return index;
      }
    }
    return before;
  }

  /** The product whose activation is multiplied with the other's result. */
  private Optional<Node> gate(Value hidden) {
    Value at = hidden;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      if (isBinary(node, BinaryFunction.MUL) && !hasParameter(node)) {
        List<Node> left = sources(node.operand(0), false);
        List<Node> right = sources(node.operand(1), false);
        if (left.size() == 1 && right.size() == 1) {
          boolean isLeft = isActivated(node.operand(0));
          return isLeft == isActivated(node.operand(1))
              ? Optional.empty()
              : Optional.of((isLeft ? left : right).getFirst());
        }
        return Optional.empty();
      }
      if (node.operands().isEmpty()) {
        return Optional.empty();
      }
      at = computed(node);
    }
    return Optional.empty();
  }

  private boolean isActivated(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      if (isWeighted(node) || node.operands().isEmpty()) {
        return false;
      }
      boolean isActivation =
          node.op() instanceof Elementwise.Unary(UnaryFunction function)
              && FfnOperands.isActivation(function);
      // x * sigmoid(x) with roundings in between is a product of two computed values.
      boolean isProduct = isBinary(node, BinaryFunction.MUL) && !hasParameter(node);
      boolean isIntegerActivation =
          node.op() instanceof IntegerNetwork network
              && network.isElementwise()
              && !(network instanceof IntegerNetwork.Requantize);
      if (isActivation || isProduct || isIntegerActivation) {
        return true;
      }
      at = computed(node);
    }
    return false;
  }

  /** Norms before products, and those whose result runs on as the residual after sums. */
  private void norms() {
    boolean isPost = false;
    for (SoftmaxBlock block : blocks) {
      for (Node node : List.copyOf(block.roles.keySet())) {
        if (isWeighted(node)) {
          Optional<Node> norm = normAbove(input(node));
          boolean isOwn = norm.filter(found -> !isPost(found)).isPresent();
          isPost |= norm.isPresent() && !isOwn;
          norm.filter(found -> isOwn)
              .ifPresent(found -> block.roles.putIfAbsent(found, BlockRoles.NORM));
        }
      }
    }
    if (isPost) {
      for (SoftmaxBlock block : blocks) {
        for (Node node : List.copyOf(block.roles.keySet())) {
          if (isSum(node)) {
            flow.nearestBelow(node.result(), this::isRounding, Flow::isNorm)
                .ifPresent(norm -> block.roles.putIfAbsent(norm, BlockRoles.NORM));
          }
        }
      }
    }
  }

  private Optional<Node> normAbove(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      if (Flow.isNorm(at.definition())) {
        return Optional.of(at.definition());
      }
      if (!isRounding(at.definition())) {
        return Optional.empty();
      }
      at = computed(at.definition());
    }
    return Optional.empty();
  }

  private boolean isPost(Node norm) {
    return flow.nearestBelow(norm.result(), this::isRounding, this::isSum).isPresent();
  }

  /** Whether a node moves or rounds elements; some exporters write rounding as arithmetic. */
  private boolean isRounding(Node node) {
    return Flow.isMoving(node)
        || node.op() instanceof Elementwise.Unary(UnaryFunction function)
            && function == UnaryFunction.ROUND
        || node.op() instanceof Elementwise.Binary && hasParameter(node);
  }

  private Value computed(Node node) {
    return flow.isParameter(node.operand(0)) ? node.operands().getLast() : node.operand(0);
  }

  private Optional<Node> nearest(Value value, boolean throughSums) {
    return sources(value, throughSums).stream().findFirst();
  }

  /**
   * The nearest products with weights that a value is computed from, the nearest one first.
   *
   * @param throughSums whether to pass sums and products of two computed values, as rotary
   *     embeddings have
   */
  private List<Node> sources(Value value, boolean throughSums) {
    List<Node> found = new ArrayList<>();
    Deque<Value> work = new ArrayDeque<>(List.of(value));
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!work.isEmpty() && seen.size() < MAX_STEPS) {
      Node node = work.removeFirst().definition();
      if (node == null || !seen.add(node)) {
        continue;
      }
      if (isWeighted(node)) {
        found.add(node);
      } else if (passes(node, throughSums)) {
        node.operands().stream()
            .filter(operand -> !flow.isParameter(operand))
            .forEach(work::addLast);
      }
    }
    return found;
  }

  private boolean passes(Node node, boolean throughSums) {
    return switch (node.op()) {
      case Structured.Norm norm -> node.result().type().rank() == 4;
      case Structured.RotaryEmbedding rotary -> true;
      case Structured.CacheUpdate update -> true;
      case IntegerNetwork network when network.isElementwise() -> true;
      case Movement movement -> !(movement instanceof Movement.Gather);
      case Contraction.MatMul product -> throughSums;
      case Elementwise elementwise -> throughSums || !isSum(node);
      case Op op -> Flow.isPassing(op);
    };
  }

  /**
   * Whether a node passes on what the product above it gave, element by element or line by line.
   * What zero points add to sums of integers is subtracted from them.
   */
  private boolean isCarried(Node node) {
    return isRounding(node)
        || Flow.isNorm(node)
        || node.op() instanceof Elementwise.Unary
        || isBinary(node, BinaryFunction.SUB) && node.result().type().element().isInteger();
  }

  private boolean isSum(Node node) {
    return isBinary(node, BinaryFunction.ADD) && !hasParameter(node);
  }

  private static boolean isBinary(Node node, BinaryFunction function) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction found) && found == function;
  }

  private boolean hasParameter(Node node) {
    return node.operands().stream().anyMatch(flow::isParameter);
  }

  /** Whether it multiplies a computed value by weights. */
  private boolean isWeighted(Node node) {
    return (node.op() instanceof Contraction || node.op() instanceof Structured.Linear)
        && node.operands().size() >= 2
        && flow.isParameter(node.operand(0)) != flow.isParameter(node.operand(1));
  }

  private Value input(Node product) {
    return product.operand(flow.isParameter(product.operand(0)) ? 1 : 0);
  }

  private static Object features(Value value) {
    return value.type().shape().fromEnd(0);
  }
}
