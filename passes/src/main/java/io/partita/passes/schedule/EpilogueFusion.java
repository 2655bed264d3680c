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
 * the sums to the home memory and back, but may have smaller tiles, because the operands of
 * epilogues need room too.
 */
final class EpilogueFusion {
  private EpilogueFusion() {}

  /**
   * @param view the view of a value in the home memory
   */
  static boolean isFaster(Group group, LoopKernels kernels, Function<Value, TensorView> view) {
    List<Optional<TileSpace>> apart =
        group.unfused().stream().map(each -> lower(each, kernels, view)).toList();
    return kernels.isFaster(lower(group, kernels, view), apart);
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
