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
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Lets tokens travel as indices of their nearest centroids, as in "Communication-Efficient
 * Multi-Device Inference Acceleration for Transformer Models" (ASTRA): attention reads a device's
 * own tokens exactly and the tokens of others as their centroids.
 *
 * <p>Tokens are quantised where the split gathers them: as features after the norm, or as keys and
 * values. All of this is ordinary operations around an exact sync of the packed indices; the tokens
 * vary over devices from the overlay to the attention's result, of which each device holds the part
 * of its own queries. A cache that one device keeps for decoding holds this device's view of all
 * tokens.
 */
public final class VectorSyncs implements ModulePass {
  private final SyncCalibration calibration;
  private final BlockSelection blocks;
  private final SyncMethod.Width.Vector method;

  /**
   * @param calibration with codebooks
   */
  public VectorSyncs(
      SyncCalibration calibration, BlockSelection blocks, SyncMethod.Width.Vector method) {
    this.calibration = calibration;
    this.blocks = blocks;
    this.method = method;
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
    Map<Node, String> takes = new LinkedHashMap<>();
    for (TokenSync sync : syncs) {
      if (blocks.contains(sync.block(), sync.node())) {
        sync.joins().forEach(join -> joins.put(join, sync.axis()));
        sync.takes().forEach(take -> takes.put(take, sync.axis()));
        requireKind(sync);
        rewrite(sync, calibration.codebook(sync, method), layouts, graph);
      }
    }
    joins.forEach((join, axis) -> settle(join, axis, graph));
    takes.forEach((take, axis) -> take(take, axis, layouts, graph));
    return module.with(graph.freeze());
  }

  private void requireKind(TokenSync sync) {
    if (sync.kind() != method.of()) {
      boolean isFeatures = method.of() == TokenGathers.Kind.FEATURES;
      throw SyncCode.VECTOR.at(
          "tokens at " + sync.node() + " in block " + sync.block(),
          isFeatures ? "features from which devices compute keys and values" : "keys and values",
          isFeatures ? "keys and values" : "features",
          "write vq(…,of=%s) for this block".formatted(sync.kind()));
    }
  }

  private static void rewrite(
      TokenSync sync, Codebook book, LayoutInference layouts, GraphEditor graph) {
    Node node = sync.node();
    graph.before(node);
    Value own = node.operand(0);
    VectorCode code = VectorCode.of(book, graph);
    Value indices = code.nearest(own);
    Value received = exchanged(sync, indices, layouts.layout(own), code, graph);
    Value decoded = code.decoded(received);
    if (own.type().element() != decoded.type().element()) {
      decoded = graph.add(new Elementwise.Cast(own.type().element()), decoded);
    }
    Value view = graph.add(new Communication.Overlay(sync.axis(), sync.dim()), decoded, own);
    graph.replace(node.result(), view);
  }

  /** The indices of all devices, of which each sends its own as one stream of bits. */
  private static Value exchanged(
      TokenSync sync, Value indices, Layout from, VectorCode code, GraphEditor graph) {
    int rank = indices.type().rank();
    List<Integer> tokensFirst = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
    if (indices.type().shape().range(0, sync.dim()).elements() != 1) {
      tokensFirst.remove(Integer.valueOf(sync.dim()));
      tokensFirst.addFirst(sync.dim());
    }
    Value ordered = transposed(indices, tokensFirst, graph);
    Shape shape = ordered.type().shape();
    Split tokens = from.splits().get(sync.dim());
    Shape lines = Shape.of(tokens.extent(), shape.elements() / tokens.extent());
    Layout split = Layout.replicated(from.mesh(), 2).with(0, tokens).withAt(from.at());
    IndexStreams streams = new IndexStreams(split, sync.axis(), lines.extent(1), code, graph);
    Value packed = streams.packed(graph.add(new Movement.Reshape(lines), ordered));
    Value codes = streams.unpacked(gathered(packed, streams.streams(), sync.node(), graph));
    List<Integer> back = new ArrayList<>(Collections.nCopies(rank, 0));
    IntStream.range(0, rank).forEach(i -> back.set(tokensFirst.get(i), i));
    return transposed(graph.add(new Movement.Reshape(shape), codes), back, graph);
  }

  private static Value transposed(Value value, List<Integer> order, GraphEditor graph) {
    boolean isSame = IntStream.range(0, order.size()).allMatch(i -> order.get(i) == i);
    return isSame ? value : graph.add(new Movement.Transpose(order), value);
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

  /** The device that keeps keys and values of all tokens has its own view of them. */
  private static void take(Node take, String axis, LayoutInference layouts, GraphEditor graph) {
    graph.before(take);
    int place = layouts.layout(take.result()).at().get(axis);
    Value view = graph.operand(take, 0);
    graph.replace(
        take.result(), graph.add(new Communication.Settle(axis, new Exit.Take(place)), view));
  }
}
