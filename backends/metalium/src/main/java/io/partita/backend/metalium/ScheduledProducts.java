package io.partita.backend.metalium;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StepMeaning;
import java.util.IdentityHashMap;
import java.util.Map;

/** The blocks in which cores compute products, as their schedule says. */
final class ScheduledProducts {
  private ScheduledProducts() {}

  /** Returns the blocks of the products of a device, by their results. */
  static Map<Value, ProductBlocks> of(ChipSchedule role, Graph graph) {
    Map<Value, ProductBlocks> products = new IdentityHashMap<>();
    for (StepMeaning.Result result : role.meaning().orElseThrow().results()) {
      if (role.steps().get(result.step()) instanceof ScheduleStep.RunTiles run) {
        Value value = graph.nodes().get(result.node()).results().get(result.index());
        ProductBlocks.of(role.kernels().get(run.kernel()), role.cores())
            .ifPresent(blocks -> products.put(value, blocks));
      }
    }
    return products;
  }
}
