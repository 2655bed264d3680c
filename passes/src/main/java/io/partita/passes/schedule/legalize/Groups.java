package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Source;
import java.util.List;

/** Which nodes of a legal graph one loop computes. */
public final class Groups {
  private Groups() {}

  /**
   * Every node but for the constants is in exactly one group; a group stands where its last node
   * does. It depends on the graph's structure and types alone, not on the data of constants, so
   * that devices of one role have the same groups.
   *
   * @param graph as {@link Legalization} leaves it
   */
  public static List<Group> of(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .map(node -> Group.of(List.<Node>of(node)))
        .toList();
  }
}
