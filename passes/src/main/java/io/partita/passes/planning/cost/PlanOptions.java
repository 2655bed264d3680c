package io.partita.passes.planning.cost;

import io.partita.ir.type.ElementType;
import io.partita.passes.program.values.Assumptions;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Of what a run is to be predicted.
 *
 * @param assumptions what isn't in the program
 * @param buffers tiles in the working memory at once: with 2 one is loaded while the other is
 *     computed, with 1 cores wait for each
 * @param awaitsBlocks whether a block waits for its weights where they are loaded a block ahead.
 *     The MCU paper (section V-A) shows the time of a block whose weights have arrived, and counts
 *     only the energy of loading the next one's
 */
public record PlanOptions(Assumptions assumptions, int buffers, boolean awaitsBlocks) {
  public static final PlanOptions DEFAULT = new PlanOptions(Assumptions.NONE, 2, true);

  public PlanOptions {
    if (buffers != 1 && buffers != 2) {
      throw new IllegalArgumentException(buffers + " buffers");
    }
  }

  /** KV caches hold keys of so many positions, those of this run included. */
  public PlanOptions filled(long positions) {
    return with(new Assumptions(OptionalLong.of(positions), assumptions.floats()));
  }

  /** Floats count as of this type, as if the model were quantised. */
  public PlanOptions floats(ElementType type) {
    return with(new Assumptions(assumptions.filled(), Optional.of(type)));
  }

  private PlanOptions with(Assumptions changed) {
    return new PlanOptions(changed, buffers, awaitsBlocks);
  }

  public PlanOptions buffers(int count) {
    return new PlanOptions(assumptions, count, awaitsBlocks);
  }

  public PlanOptions awaitsBlocks(boolean awaits) {
    return new PlanOptions(assumptions, buffers, awaits);
  }
}
