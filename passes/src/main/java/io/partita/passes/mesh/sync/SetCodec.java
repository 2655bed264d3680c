package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Codec;
import io.partita.ir.op.Communication.Sync;
import io.partita.passes.ModulePass;

/** Lets the elements of exact syncs travel by a codec, where it encodes them. */
public final class SetCodec implements ModulePass {
  private final Codec codec;

  public SetCodec(Codec codec) {
    this.codec = codec;
  }

  @Override
  public String name() {
    return "sync-codec";
  }

  @Override
  public String purpose() {
    return "let floats travel between devices in fewer bits, as in sync-codec(bf16)";
  }

  /**
   * @param module of the mesh dialect; one that is on no devices has no syncs
   */
  @Override
  public Module run(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Sync sync
          && sync.codec().equals(Codec.EXACT)
          && codec.encodes(node.operand(0).type().element())) {
        graph.before(node);
        graph.replace(node.result(), graph.add(sync.with(codec), graph.operand(node, 0)));
      }
    }
    return module.with(graph.freeze());
  }
}
