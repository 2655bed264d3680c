package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.type.Shape;
import io.partita.passes.ModulePass;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets tokens travel as indices of their nearest centroids, as in "Communication-Efficient
 * Multi-Device Inference Acceleration for Transformer Models" (ASTRA): attention reads a device's
 * own tokens exactly and the tokens of others as their centroids.
 *
 * <p>Tokens are quantised where the split gathers them, which is after the norm. All of this is
 * ordinary operations around an exact sync of the packed indices; the tokens vary over devices from
 * the overlay to the attention's result, of which each device holds the part of its own queries.
 */
public final class VectorSyncs implements ModulePass {
  private final SyncCalibration calibration;
  private final BlockSelection blocks;
  private final int size;
  private final int groups;

  /**
   * @param calibration with codebooks
   * @param size the number of centroids of each group
   * @param groups of features
   */
  public VectorSyncs(SyncCalibration calibration, BlockSelection blocks, int size, int groups) {
    this.calibration = calibration;
    this.blocks = blocks;
    this.size = size;
    this.groups = groups;
  }

  @Override
  public String name() {
    return "vector-syncs";
  }

  @Override
  public String purpose() {
    return "send tokens as indices of the centroids of partita calibrate";
  }

  static PartitaException noTokens(String where) {
    return SyncCode.VECTOR.at(
        where,
        "tokens that devices gather for attention",
        "none",
        "split a transformer that takes several tokens at once, with --strategy sequence");
  }

  /**
   * @param module of the mesh dialect
   * @throws PartitaException with {@link SyncCode#VECTOR} for a module whose devices gather no
   *     tokens, or without a codebook for them
   */
  @Override
  public Module run(Module module) {
    LayoutInference layouts = LayoutInference.of(module);
    List<TokenSync> syncs = TokenSync.of(module, layouts);
    if (syncs.isEmpty()) {
      throw noTokens("pass vector-syncs");
    }
    blocks.require("pass vector-syncs, option blocks", syncs.getLast().block() + 1);
    GraphEditor graph = new GraphEditor(module.graph());
    Map<Node, String> joins = new LinkedHashMap<>();
    for (TokenSync sync : syncs) {
      if (blocks.contains(sync.block())) {
        sync.joins().forEach(join -> joins.put(join, sync.axis()));
        rewrite(sync, calibration.codebook(sync, size, groups), layouts, graph);
      }
    }
    joins.forEach((join, axis) -> settle(join, axis, graph));
    return module.with(graph.freeze());
  }

  private static void rewrite(
      TokenSync sync, Codebook book, LayoutInference layouts, GraphEditor graph) {
    Node node = sync.node();
    graph.before(node);
    Value own = node.operand(0);
    VectorCode code = VectorCode.of(book, graph);
    Value indices = code.nearest(own);
    Shape shape = indices.type().shape();
    Layout from = layouts.layout(own);
    Split tokens = from.splits().get(sync.dim());
    Value received;
    if (isEven(tokens, shape, sync.dim())) {
      Shape lines = Shape.of(tokens.parts(), shape.elements() / tokens.parts());
      Layout byDevice =
          Layout.replicated(from.mesh(), 2)
              .with(0, Split.even(from.mesh(), tokens.parts(), sync.axis()))
              .withAt(from.at());
      Value packed = code.pack(graph.add(new Movement.Reshape(lines), indices));
      Value codes = code.unpack(gathered(packed, byDevice, node, graph), lines.dim(1).value());
      received = graph.add(new Movement.Reshape(shape), codes);
    } else {
      Value packed = code.pack(indices);
      received = code.unpack(gathered(packed, from, node, graph), book.groups());
    }
    Value decoded = code.decoded(received);
    if (own.type().element() != decoded.type().element()) {
      decoded = graph.add(new Elementwise.Cast(own.type().element()), decoded);
    }
    Value view = graph.add(new Communication.Overlay(sync.axis(), sync.dim()), decoded, own);
    graph.replace(node.result(), view);
  }

  /** Whether each device has the same number of tokens, one after the other in memory. */
  private static boolean isEven(Split tokens, Shape shape, int dim) {
    for (int part = 1; part < tokens.parts(); part++) {
      if (tokens.size(part) != tokens.size(0)) {
        return false;
      }
    }
    return shape.range(0, dim).elements() == 1;
  }

  private static Value gathered(Value value, Layout from, Node sync, GraphEditor graph) {
    Layout to = Layout.replicated(from.mesh(), from.rank()).withAt(from.at());
    Communication.Sync before = (Communication.Sync) sync.op();
    return graph.add(
        new Communication.Sync(
            new Resharding(from, to).kinds(), to, before.algorithm(), Codec.EXACT),
        value);
  }

  /** The attention's result is of a device's own queries, and no longer varies. */
  private static void settle(Node join, String axis, GraphEditor graph) {
    graph.before(join);
    Value attended = graph.add(join.op(), graph.operands(join));
    Value settled = graph.add(new Communication.Settle(axis, new Exit.Part()), attended);
    graph.replace(join.result(), settled);
  }
}
