package io.partita.backend.metalium;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.schedule.TiledKernel;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;

/** The products whose left operand one core reads for all others, as their schedule says. */
final class SharedOperands {
  private SharedOperands() {}

  /** Returns the results of these products on a device. */
  static Set<Value> of(ChipSchedule role, Graph graph) {
    Set<Value> shared = Collections.newSetFromMap(new IdentityHashMap<>());
    for (StepMeaning.Result result : role.meaning().orElseThrow().results()) {
      if (role.steps().get(result.step()) instanceof ScheduleStep.RunTiles run
          && isShared(role.kernels().get(run.kernel()))) {
        shared.add(graph.nodes().get(result.node()).results().get(result.index()));
      }
    }
    return shared;
  }

  /** Whether all cores need the same tile of the first operand, and it is the only one. */
  private static boolean isShared(TiledKernel kernel) {
    return kernel.axes().stream().allMatch(axis -> axis.count() == 1 || axis.over().isPresent())
        && kernel.operands().getFirst().multicast().equals(Optional.of(CoreGrid.Axis.CORES));
  }
}
