package io.partita.passes.planning.search;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutInference;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Shortage;

/**
 * A complete plan.
 *
 * @param module the module of the mesh dialect, with the algorithms of syncs
 * @param program the programs of the devices
 * @param report the predicted figures of the program on the target
 */
public record CandidatePlan(Strategy strategy, Module module, Program program, PlanReport report) {
  public double seconds() {
    return report.seconds();
  }

  public double joules() {
    return report.totalJoules();
  }

  public int devices() {
    return strategy.devices();
  }

  public boolean fits() {
    return report.fits();
  }

  /** Whether any value isn't replicated; a plan for one device counts as split. */
  boolean isSplit() {
    return devices() == 1
        || !report.syncs().isEmpty()
        || LayoutInference.of(module).layouts().values().stream()
            .anyMatch(layout -> !layout.isReplicated());
  }

  /** Returns the bytes of all memories of the device that needs most. */
  public long peakBytes() {
    return report.devices().stream()
        .mapToLong(device -> device.memories().stream().mapToLong(MemoryUse::used).sum())
        .max()
        .orElse(0);
  }

  /** Returns the missing bytes of all memories; 0 if it fits. */
  public long shortBytes() {
    return report.shortages().stream()
        .mapToLong(shortage -> shortage.needed() - shortage.available())
        .sum();
  }

  /** Returns the memory with the largest shortage. */
  public Shortage worst() {
    return report.shortages().stream()
        .max(java.util.Comparator.comparingLong(s -> s.needed() - s.available()))
        .orElseThrow();
  }
}
