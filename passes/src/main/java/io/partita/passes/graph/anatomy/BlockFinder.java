package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Groups attentions, feed-forward networks and norms into blocks. */
final class BlockFinder {
  private final Graph graph;
  private final Flow flow;
  private final Projections projections;
  private final AttentionParts parts;
  private final Map<Node, Integer> order = new IdentityHashMap<>();

  BlockFinder(Graph graph, Flow flow, Projections projections) {
    this.graph = graph;
    this.flow = flow;
    this.projections = projections;
    this.parts = new AttentionParts(flow, projections, new MaskReading(graph));
    graph.nodes().forEach(node -> order.put(node, order.size()));
  }

  List<Block> blocks() {
    List<Block.AttentionPart> attentions = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        attentions.add(parts.of(node));
      }
    }
    Map<Integer, List<Block.FfnPart>> ffns = networks(attentions);
    Map<Integer, List<Node>> norms = new TreeMap<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Norm) {
        int index = flow.lastAttention(node.result());
        norms.computeIfAbsent(index, block -> new ArrayList<>()).add(node);
      }
    }
    List<Block> blocks = new ArrayList<>();
    for (int index = 0; index < attentions.size(); index++) {
      blocks.add(
          block(
              index,
              attentions,
              ffns.getOrDefault(index, List.of()),
              norms.getOrDefault(index, List.of())));
    }
    return blocks;
  }

  /** The feed-forward networks of each block; unraised ones only if it has no others. */
  private Map<Integer, List<Block.FfnPart>> networks(List<Block.AttentionPart> attentions) {
    Map<Integer, List<Block.FfnPart>> joined = new TreeMap<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Ffn ffn && givesAsManyFeatures(node)) {
        joined
            .computeIfAbsent(
                blockOf(node.result(), node.operand(0), attentions), block -> new ArrayList<>())
            .add(part(node, ffn));
      }
    }
    UnraisedFfns loose = new UnraisedFfns(flow, projections);
    Map<Integer, List<Block.FfnPart>> networks = new TreeMap<>(joined);
    for (Projection projection : projections.all()) {
      loose
          .endingWith(projection)
          .ifPresent(
              found -> {
                int block = blockOf(projection.result(), found.input(), attentions);
                if (!joined.containsKey(block)) {
                  networks.computeIfAbsent(block, empty -> new ArrayList<>()).add(found.part());
                }
              });
    }
    return networks;
  }

  /** Other networks are heads of classifiers. */
  private static boolean givesAsManyFeatures(Node network) {
    Shape input = network.operand(0).type().shape();
    return network.result().type().shape().fromEnd(0).equals(input.fromEnd(0));
  }

  /**
   * Returns the block of the last attention before the network, or of one in parallel: both read
   * the same residual, and neither depends on the other.
   */
  private int blockOf(Value result, Value input, List<Block.AttentionPart> attentions) {
    int before = flow.lastAttention(result);
    Value residual = Flow.residualOf(input);
    for (int index = before + 1; index < attentions.size(); index++) {
      Block.AttentionPart beside = attentions.get(index);
      boolean isSibling =
          beside.query().filter(query -> Flow.residualOf(query.input()) == residual).isPresent()
              && !flow.depends(beside.node().result(), result);
      if (isSibling) {
        return index;
      }
    }
    return before;
  }

  private static Block.FfnPart part(Node node, Structured.Ffn ffn) {
    Value down = node.operands().get(node.operands().size() - (ffn.downBias() ? 2 : 1));
    return new Block.FfnPart(
        node, List.of(), ffn.gated(), Optional.of(ffn.activation()), down.type().dim(0), false);
  }

  private Block block(
      int index,
      List<Block.AttentionPart> attentions,
      List<Block.FfnPart> ffns,
      List<Node> normsAfter) {
    Block.AttentionPart attention = attentions.get(index);
    Node node = attention.node();
    List<String> gaps = new ArrayList<>();
    if (!flow.isParameter(node.operand(0))) {
      missing(attention.query(), "queries", node, 0, gaps);
    }
    if (!parts.givesKeysAndValues(attention)) {
      missing(attention.key(), "keys", node, 1, gaps);
      missing(attention.value(), "values", node, 2, gaps);
    }
    if (attention.output().isEmpty()) {
      gaps.add("no linear follows the attention");
    }
    if (ffns.isEmpty() && !isBeforeCross(index, attentions)) {
      gaps.add("no feed-forward network: " + afterwards(node));
    }
    Optional<Node> sum = attention.output().flatMap(this::residual);
    List<Node> norms = new ArrayList<>();
    Optional<Node> pre = attention.query().flatMap(query -> norm(query.input()));
    Optional<Node> inner = attention.output().flatMap(output -> normBelow(output.result()));
    Optional<Node> post = sum.flatMap(found -> normBelow(projections.withBias(found.result())));
    pre.ifPresent(norms::add);
    inner.ifPresent(norms::add);
    post.ifPresent(norms::add);
    normsAfter.stream()
        .filter(found -> !norms.contains(found))
        .filter(found -> flow.nextAttention(found.result()) == Flow.NO_ATTENTION)
        .forEach(norms::add);
    norms.sort(Comparator.comparing(order::get));
    return new Block(
        index,
        attention,
        ffns,
        norms,
        placement(pre.filter(found -> !isPost(found)).isPresent(), inner.isPresent(), post),
        sum.isPresent(),
        gaps);
  }

  /** Whether the next part of the layer is a cross-attention and not a network. */
  private boolean isBeforeCross(int index, List<Block.AttentionPart> attentions) {
    return attentions.stream()
        .anyMatch(next -> next.cross() && flow.lastAttention(next.node().operand(0)) == index);
  }

  /** A norm whose result becomes the residual belongs to the previous block. */
  private boolean isPost(Node norm) {
    return flow.nearestBelow(norm.result(), node -> Flow.isPassing(node.op()), BlockFinder::isSum)
        .isPresent();
  }

  private static boolean isSum(Node node) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD;
  }

  private Block.NormPlacement placement(boolean pre, boolean inner, Optional<Node> post) {
    if (pre) {
      return inner ? Block.NormPlacement.BOTH : Block.NormPlacement.PRE;
    }
    if (post.isEmpty()) {
      return inner ? Block.NormPlacement.OUTPUT : Block.NormPlacement.NONE;
    }
    if (isPost(post.get())) {
      return Block.NormPlacement.POST;
    }
    // If only the network has a norm before it, that of the attention follows the embedding.
    return inner ? Block.NormPlacement.OUTPUT : Block.NormPlacement.PRE;
  }

  private void missing(
      Optional<Projection> linear, String what, Node attention, int operand, List<String> gaps) {
    if (linear.isEmpty()) {
      gaps.add(
          "no linear gives the "
              + what
              + ": they come from "
              + parts.end(attention.operand(operand)));
    }
  }

  private Optional<Node> norm(Value value) {
    return Flow.above(value, Flow::isPassing, op -> op instanceof Structured.Norm);
  }

  /** Finds a norm of the value, possibly after a reshape. */
  private Optional<Node> normBelow(Value value) {
    return flow.nearestBelow(
        value,
        node -> Flow.isPassing(node.op()) || node.op() instanceof Movement.Concat,
        node -> node.op() instanceof Structured.Norm);
  }

  /** Finds the first sum of the attention's output with the residual. */
  private Optional<Node> residual(Projection output) {
    return flow.nearestBelow(
        output.result(),
        node ->
            Flow.isPassing(node.op())
                || node.op() instanceof Structured.Norm
                || node.op() instanceof Movement.Concat
                || node.op() instanceof Elementwise.Binary && hasParameter(node),
        node -> isSum(node) && !hasParameter(node));
  }

  private boolean hasParameter(Node node) {
    return node.operands().stream().anyMatch(flow::isParameter);
  }

  /**
   * Describes the operations between the next two linears, where a feed-forward network is
   * expected.
   */
  private String afterwards(Node attention) {
    int from = order.get(attention);
    List<String> between = new ArrayList<>();
    int linears = 0;
    for (Node node : graph.nodes().subList(from + 1, graph.nodes().size())) {
      boolean isLinear = projections.isProjection(node);
      linears += isLinear ? 1 : 0;
      if (linears >= 3) {
        break;
      }
      if (linears == 2 && !isLinear && !flow.isParameter(node.results().getFirst())) {
        between.add(node.op().mnemonic());
      }
    }
    return between.isEmpty()
        ? "no two linears follow those of the attention"
        : "between the linears are "
            + String.join(", ", between.subList(0, Math.min(8, between.size())));
  }
}
