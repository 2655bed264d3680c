package io.partita.passes.program.localize;

import io.partita.ir.graph.Node;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication.Sync;

/**
 * A sync that gathers the parts of a value, and a product that can be computed meanwhile, at least
 * in part.
 */
public record Gather(Node sync, Node product) {
  /** Whether a node of the mesh dialect only gathers. */
  public static boolean isGather(Node node) {
    return node.op() instanceof Sync sync
        && sync.kinds().values().stream().allMatch(kind -> kind == SyncKind.ALL_GATHER);
  }
}
