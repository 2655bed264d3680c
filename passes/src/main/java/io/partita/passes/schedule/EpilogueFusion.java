package io.partita.passes.schedule;

import io.partita.ir.graph.Value;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.lower.Lowerings;
import io.partita.passes.schedule.lower.TensorView;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Decides whether a computation and its epilogues become one loop. One loop saves the transfer of
 * values to the home memory and back, but may have smaller tiles, because the operands of epilogues
 * need room too, and norms whole rows.
 */
final class EpilogueFusion {
  private EpilogueFusion() {}

  /**
   * Returns the groups of the loops that take the least time: the group itself, or parts of it in
   * order.
   *
   * @param view the view of a value in the home memory
   */
  static List<Group> fastest(Group group, LoopKernels kernels, Function<Value, TensorView> view) {
    if (group.epilogues() == 0) {
      return List.of(group);
    }
    List<Group> parts =
        group.apart().stream().flatMap(part -> fastest(part, kernels, view).stream()).toList();
    List<Optional<TileSpace>> apart =
        parts.stream().map(each -> lower(each, kernels, view)).toList();
    return kernels.isFaster(lower(group, kernels, view), apart) ? List.of(group) : parts;
  }

  private static Optional<TileSpace> lower(
      Group group, LoopKernels kernels, Function<Value, TensorView> view) {
    return Lowerings.lower(
        group,
        group.operands().stream().map(view).toList(),
        group.results().stream().map(view).toList(),
        kernels.arePaged());
  }
}
