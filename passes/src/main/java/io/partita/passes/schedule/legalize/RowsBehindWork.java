package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.List;

/**
 * Fetches rows of tables, such as the angles of a position, behind the first work of a run: the
 * control core starts to fetch them while the other cores compute, and they arrive during the work
 * after that.
 */
public final class RowsBehindWork {
  private RowsBehindWork() {}

  /**
   * Moves lookups of rows behind the next work, if there is more before their first reader.
   *
   * @param groups in an order in which each group's operands are computed before it
   * @return the groups in another such order. No group passes communication
   */
  public static List<Group> order(List<Group> groups) {
    List<Group> ordered = new ArrayList<>(groups);
    for (Group group : groups) {
      if (isLookup(group)) {
        move(group, ordered);
      }
    }
    return ordered;
  }

  private static boolean isLookup(Group group) {
    Node node = group.first();
    boolean isLookup =
        node.op() instanceof Structured.Embedding
            || node.op() instanceof Movement.Gather(int axis) && axis == 0;
    return isLookup
        && group.nodes().size() == 1
        && !node.operand(0).isInput()
        && node.operand(0).definition().op() instanceof Source.Constant;
  }

  /** Moves a lookup, with the views of its rows, behind the first work, if it can be there. */
  private static void move(Group lookup, List<Group> groups) {
    int from = groups.indexOf(lookup);
    List<Group> moved = new ArrayList<>(List.of(lookup));
    int behind = from;
    for (int i = from + 1; i < groups.size(); i++) {
      Group next = groups.get(i);
      boolean isReader = moved.stream().anyMatch(each -> reads(next, each));
      if (isReader && isView(next) && behind == from) {
        moved.add(next);
      } else if (isReader || communicates(next)) {
        return;
      } else if (isWork(next) && behind == from) {
        behind = i;
      } else if (isWork(next)) {
        groups.addAll(behind + 1, moved);
        moved.forEach(groups::remove);
        return;
      }
    }
  }

  private static boolean reads(Group group, Group other) {
    return group.operands().stream().anyMatch(other.results()::contains);
  }

  private static boolean communicates(Group group) {
    return group.nodes().stream().anyMatch(node -> node.op() instanceof Communication);
  }

  private static boolean isView(Group group) {
    return group.nodes().stream()
        .allMatch(
            node ->
                node.op() instanceof Movement.Reshape || node.op() instanceof Movement.Transpose);
  }

  private static boolean isWork(Group group) {
    return !isLookup(group)
        && group.nodes().stream()
            .anyMatch(node -> node.op() instanceof Structured || node.op() instanceof Contraction);
  }
}
