package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.propagate.LayoutInference;
import io.partita.passes.ModulePass;
import java.util.List;
import java.util.Optional;

/** Sets the codec of exact syncs whose elements it encodes. */
public final class SetCodec implements ModulePass {
  private final Codec codec;

  /** The blocks whose sums are encoded; empty for all syncs. */
  private final Optional<BlockSelection> blocks;

  private SetCodec(Codec codec, Optional<BlockSelection> blocks) {
    this.codec = codec;
    this.blocks = blocks;
  }

  /** Sets the codec of all syncs. */
  public SetCodec(Codec codec) {
    this(codec, Optional.empty());
  }

  /** Sets the codec of the sums of some blocks. */
  public static SetCodec ofSums(Codec codec, BlockSelection blocks) {
    return new SetCodec(codec, Optional.of(blocks));
  }

  @Override
  public String name() {
    return "sync-codec";
  }

  @Override
  public String purpose() {
    return "send floats between devices in fewer bits, as in sync-codec(bf16)";
  }

  /**
   * @param module a module of the mesh dialect; one without devices has no syncs
   */
  @Override
  public Module run(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : blocks.map(some -> sums(module, some)).orElse(module.graph().nodes())) {
      if (node.op() instanceof Sync sync
          && sync.codec().equals(Codec.EXACT)
          && codec.encodes(node.operand(0).type().element())) {
        graph.before(node);
        graph.replace(node.result(), graph.add(sync.with(codec), graph.operand(node, 0)));
      }
    }
    return module.with(graph.freeze());
  }

  private static List<Node> sums(Module module, BlockSelection blocks) {
    List<SumSync> all =
        module.placement().isEmpty() ? List.of() : SumSync.of(module, LayoutInference.of(module));
    blocks.require("pass sync-codec", all.isEmpty() ? 0 : all.getLast().block() + 1);
    return all.stream()
        .filter(sum -> blocks.contains(sum.block(), sum.node()))
        .map(SumSync::node)
        .toList();
  }
}
