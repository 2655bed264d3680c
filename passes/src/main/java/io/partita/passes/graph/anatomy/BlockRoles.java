package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Records the transformer block and the role of each node. Only this class identifies blocks; later
 * stages read the origins of nodes.
 *
 * <p>A block consists of an attention with its projections and norms, and the feed-forward network
 * that follows, as {@link ModelAnatomy} finds them, or {@link SoftmaxBlocks} where no attention is
 * one operation. Nodes between two of its nodes belong to it. A weight has the block and role of
 * its first user.
 */
public final class BlockRoles {
  /** The role of nodes that compute queries, keys and values with one weight. */
  static final String FUSED = "projection";

  /** The role of an attention, or of each of its nodes if it was not raised. */
  public static final String ATTENTION = "attention";

  static final String QUERY = "query";
  static final String KEY = "key";
  static final String VALUE = "value";
  static final String OUTPUT = "output";

  /** The role of norms. */
  public static final String NORM = "norm";

  /** The role of the sums of attentions and networks with the residual stream. */
  public static final String RESIDUAL = "residual";

  /** The role of the product whose activation gates another in a feed-forward network. */
  public static final String GATE = "gate";

  /** The role of the product that gives the inner features of the network. */
  public static final String UP = "up";

  /** The role of the product that gives the result of the network. */
  public static final String DOWN = "down";

  private final Graph graph;
  private final Map<Node, Integer> order = new IdentityHashMap<>();
  private final Map<Node, String> roles = new IdentityHashMap<>();
  private final Map<Node, Integer> blocks = new IdentityHashMap<>();
  private final Set<Node> branches = Collections.newSetFromMap(new IdentityHashMap<>());

  private BlockRoles(Graph graph) {
    this.graph = graph;
    graph.nodes().forEach(node -> order.put(node, order.size()));
  }

  /** Returns the module with blocks and roles; the same module if its nodes have them already. */
  public static Module record(Module module) {
    Graph graph = module.graph();
    boolean isKnown = graph.nodes().stream().anyMatch(node -> node.origin().block().isPresent());
    if (isKnown) {
      return module;
    }
    boolean isRaised =
        graph.nodes().stream().anyMatch(node -> node.op() instanceof Structured.Attention);
    List<SoftmaxBlocks.SoftmaxBlock> others =
        isRaised
            ? List.of()
            : SoftmaxBlocks.of(graph, new Flow(graph), new AttentionCandidates(graph).softmaxes());
    return isRaised || !others.isEmpty()
        ? module.with(new BlockRoles(graph).marked(ModelAnatomy.of(graph), others))
        : module;
  }

  /**
   * @param others blocks whose attentions aren't one operation, where none are
   */
  private Graph marked(ModelAnatomy anatomy, List<SoftmaxBlocks.SoftmaxBlock> others) {
    anatomy.blocks().forEach(this::block);
    for (int i = 0; i < others.size(); i++) {
      int block = i;
      others.get(i).attention().forEach(node -> part(node, block, ATTENTION));
      others.get(i).roles().forEach((node, role) -> part(node, block, role));
    }
    residuals();
    between(anatomy.blocks().size() + others.size());
    anatomy.embeddings().forEach(table -> role(table.node(), "embedding"));
    anatomy.patchEmbedding().ifPresent(node -> role(node, "embedding"));
    anatomy.head().ifPresent(head -> role(head.node(), "head"));
    for (Node node : graph.nodes()) {
      if (Flow.isNorm(node)) {
        roles.putIfAbsent(node, NORM);
      }
    }
    weights();
    return rebuilt();
  }

  private void role(Node node, String role) {
    if (roles.putIfAbsent(node, role) == null) {
      blocks.remove(node);
    }
  }

  private void part(Node node, int block, String role) {
    if (roles.putIfAbsent(node, role) == null) {
      blocks.put(node, block);
    }
  }

  private void block(Block block) {
    int index = block.index();
    Block.AttentionPart attention = block.attention();
    part(attention.node(), index, ATTENTION);
    boolean isFused =
        attention.query().isPresent()
            && attention
                .key()
                .map(Projection::node)
                .equals(attention.query().map(Projection::node));
    linear(attention.query(), index, isFused ? FUSED : QUERY);
    linear(attention.key(), index, KEY);
    linear(attention.value(), index, VALUE);
    linear(attention.output(), index, OUTPUT);
    attention.output().ifPresent(output -> branches.add(output.result().definition()));
    for (Block.FfnPart ffn : block.ffns()) {
      part(ffn.node(), index, ffn.node().op() instanceof Structured.Ffn ? "ffn" : DOWN);
      for (Node up : ffn.ups()) {
        part(up, index, ffn.ups().size() == 2 && up == ffn.ups().getFirst() ? GATE : UP);
      }
      branches.add(ffn.node());
    }
    int query = attention.query().map(found -> order.get(found.node())).orElse(0);
    int last = block.ffns().stream().mapToInt(ffn -> order.get(ffn.node())).max().orElse(query);
    int after = block.placement() == Block.NormPlacement.PRE ? 0 : 1;
    boolean isPre =
        block.placement() == Block.NormPlacement.PRE
            || block.placement() == Block.NormPlacement.BOTH;
    for (Node norm : block.norms()) {
      int place = order.get(norm);
      boolean isOwn = place < query ? isPre : place <= last || after-- > 0;
      if (isOwn) {
        part(norm, index, NORM);
        branches.add(norm);
      }
    }
  }

  private void linear(Optional<Projection> projection, int block, String role) {
    projection.ifPresent(found -> part(found.node(), block, role));
  }

  /** Marks the sums of attentions and networks with the residual. */
  private void residuals() {
    for (Node node : graph.nodes()) {
      if (isAdd(node) && !roles.containsKey(node)) {
        for (Value operand : node.operands()) {
          Optional<Node> branch = Flow.above(operand, Flow::isPassing, BlockRoles::isBranch);
          if (branch.filter(branches::contains).isPresent() && !isParameter(node)) {
            part(node, blocks.getOrDefault(branch.get(), -1), RESIDUAL);
          }
        }
      }
    }
    blocks.values().removeIf(block -> block < 0);
  }

  private static boolean isAdd(Node node) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD;
  }

  private static boolean isBranch(Op op) {
    return !Flow.isPassing(op);
  }

  private static boolean isParameter(Node node) {
    return node.operands().stream()
        .anyMatch(
            operand -> !operand.isInput() && operand.definition().op() instanceof Source.Constant);
  }

  /** Assigns nodes without a role to the block whose first and last node surround them. */
  private void between(int count) {
    List<Integer> starts = new ArrayList<>(Collections.nCopies(count, Integer.MAX_VALUE));
    int end = 0;
    for (Map.Entry<Node, Integer> entry : blocks.entrySet()) {
      int place = order.get(entry.getKey());
      starts.set(entry.getValue(), Math.min(starts.get(entry.getValue()), place));
      if (entry.getValue() == count - 1) {
        end = Math.max(end, place);
      }
    }
    int block = -1;
    for (Node node : graph.nodes()) {
      int place = order.get(node);
      while (block + 1 < count && starts.get(block + 1) <= place) {
        block++;
      }
      boolean isInside = block >= 0 && place <= end && !(node.op() instanceof Source.Constant);
      if (isInside && !roles.containsKey(node)) {
        blocks.put(node, block);
      }
    }
  }

  private void weights() {
    for (Node node : graph.nodes()) {
      for (Value operand : node.operands()) {
        if (!operand.isInput() && operand.definition().op() instanceof Source.Constant) {
          Node weight = operand.definition();
          if (blocks.containsKey(node)) {
            blocks.putIfAbsent(weight, blocks.get(node));
          }
          if (roles.containsKey(node)) {
            roles.putIfAbsent(weight, roles.get(node));
          }
        }
      }
      if (node.op() instanceof Structured.Ffn ffn && blocks.containsKey(node)) {
        network(node, ffn);
      }
    }
  }

  /** Gives the weights of a network their own roles. */
  private void network(Node node, Structured.Ffn ffn) {
    List<Value> matrices =
        node.operands().stream().skip(1).filter(value -> value.type().rank() == 2).toList();
    List<String> words = ffn.gated() ? List.of(GATE, UP, DOWN) : List.of(UP, DOWN);
    for (int i = 0; i < Math.min(matrices.size(), words.size()); i++) {
      if (!matrices.get(i).isInput()) {
        roles.put(matrices.get(i).definition(), words.get(i));
      }
    }
  }

  private Graph rebuilt() {
    GraphBuilder builder = new GraphBuilder(graph.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    graph.inputs().forEach(each -> copies.put(each, builder.input(each.name(), each.type())));
    for (Node node : graph.nodes()) {
      Origin origin = node.origin().with(block(node), roles.getOrDefault(node, ""));
      List<Value> operands = node.operands().stream().map(copies::get).toList();
      Node copy = builder.at(origin).addNode(node.op(), operands);
      for (int i = 0; i < copy.results().size(); i++) {
        copies.put(node.results().get(i), copy.results().get(i));
      }
    }
    graph.outputs().forEach(each -> builder.output(each.name(), copies.get(each.value())));
    return builder.finish();
  }

  private OptionalInt block(Node node) {
    Integer block = blocks.get(node);
    return block == null ? OptionalInt.empty() : OptionalInt.of(block);
  }
}
