package io.partita.passes.anatomy;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Groups attentions, feed-forward networks and norms in blocks. */
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
    Map<Integer, List<Block.FfnPart>> ffns = new TreeMap<>();
    Map<Integer, List<Node>> norms = new TreeMap<>();
    List<Node> attentions = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        attentions.add(node);
      } else if (node.op() instanceof Structured.Ffn ffn) {
        ffns.computeIfAbsent(blockOf(node), block -> new ArrayList<>()).add(part(node, ffn));
      } else if (node.op() instanceof Structured.Norm) {
        norms.computeIfAbsent(blockOf(node), block -> new ArrayList<>()).add(node);
      }
    }
    QuantizedFfns quantized = new QuantizedFfns(projections);
    for (Projection projection : projections.all()) {
      quantized
          .endingWith(projection)
          .ifPresent(
              part ->
                  ffns.computeIfAbsent(blockOf(part.node()), block -> new ArrayList<>()).add(part));
    }
    List<Block> blocks = new ArrayList<>();
    for (Node attention : attentions) {
      int index = flow.indexOf(attention);
      blocks.add(
          block(
              index,
              attention,
              ffns.getOrDefault(last(index, attentions), List.of()),
              norms.getOrDefault(index, List.of())));
    }
    return blocks;
  }

  /** What no attention depends on belongs to the last block, or to what follows it. */
  private int last(int index, List<Node> attentions) {
    return index == attentions.size() - 1 ? Flow.NO_ATTENTION - 1 : index;
  }

  /**
   * The block before the first attention that depends on the node: one that runs beside an
   * attention belongs to its block all the same.
   */
  private int blockOf(Node node) {
    return flow.nextAttention(node.result()) - 1;
  }

  private static Block.FfnPart part(Node node, Structured.Ffn ffn) {
    Value down = node.operands().get(node.operands().size() - (ffn.downBias() ? 2 : 1));
    return new Block.FfnPart(node, ffn.gated(), ffn.activation(), down.type().dim(0), false);
  }

  private Block block(int index, Node node, List<Block.FfnPart> ffns, List<Node> normsAfter) {
    Block.AttentionPart attention = parts.of(node);
    List<String> gaps = new ArrayList<>();
    missing(attention.query(), "queries", node, 0, gaps);
    missing(attention.key(), "keys", node, 1, gaps);
    missing(attention.value(), "values", node, 2, gaps);
    if (attention.output().isEmpty()) {
      gaps.add("no linear follows the attention");
    }
    if (ffns.isEmpty()) {
      gaps.add("no feed-forward network: " + afterwards(node));
    }
    Optional<Node> sum = attention.output().flatMap(this::residual);
    List<Node> norms = new ArrayList<>();
    Optional<Node> pre = attention.query().flatMap(query -> norm(query.input()));
    Optional<Node> inner = attention.output().flatMap(output -> normBelow(output.result()));
    Optional<Node> post = sum.flatMap(found -> normBelow(projections.withBias(found.result())));
    boolean isPre = pre.filter(found -> !isPost(found)).isPresent();
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
        placement(isPre, inner.isPresent(), post),
        sum.isPresent(),
        gaps);
  }

  /** A norm whose result is carried on as the residual stands after the block before. */
  private boolean isPost(Node norm) {
    return flow.readers(norm.result()).stream().anyMatch(BlockFinder::isSum);
  }

  private static boolean isSum(Node node) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD;
  }

  private static Block.NormPlacement placement(boolean pre, boolean inner, Optional<Node> post) {
    if (pre) {
      return inner ? Block.NormPlacement.BOTH : Block.NormPlacement.PRE;
    }
    return post.isPresent() ? Block.NormPlacement.POST : Block.NormPlacement.NONE;
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

  private Optional<Node> normBelow(Value value) {
    Optional<Node> only = flow.below(value, op -> op instanceof Structured.Norm);
    return only.isPresent()
        ? only
        : flow.readers(value).stream()
            .filter(reader -> reader.op() instanceof Structured.Norm)
            .findFirst();
  }

  /** The sum of the attention's output with what runs past it. */
  private Optional<Node> residual(Projection output) {
    Value at = output.result();
    Optional<Node> norm = normBelow(at);
    return flow.below(
        norm.filter(found -> flow.readers(output.result()).size() == 1)
            .map(Node::result)
            .orElse(at),
        op ->
            op instanceof Elementwise.Binary(BinaryFunction function)
                && function == BinaryFunction.ADD);
  }

  /** What stands between the next two linears, where a feed-forward network should be. */
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
        ? "no two linears follow the attention's own"
        : "between the linears stand "
            + String.join(", ", between.subList(0, Math.min(8, between.size())));
  }
}
