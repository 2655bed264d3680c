package io.partita.passes.planning.cost;

import io.partita.ir.schedule.Packing;
import io.partita.ir.type.ElementType;
import io.partita.passes.program.values.Assumptions;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Options of the prediction of a run.
 *
 * @param assumptions facts that aren't in the program
 * @param buffers the number of tiles in the working memory: with 2, one is loaded while the other
 *     is computed; with 1, cores wait for each transfer
 * @param awaitsBlocks whether a block waits for its weights if they are loaded one block ahead. The
 *     MCU paper (section V-A) gives the time of a block whose weights have arrived, and counts only
 *     the energy of loading those of the next one
 */
public record PlanOptions(Assumptions assumptions, int buffers, boolean awaitsBlocks) {
  public static final PlanOptions DEFAULT = new PlanOptions(Assumptions.NONE, 2, true);

  public PlanOptions {
    if (buffers != 1 && buffers != 2) {
      throw new IllegalArgumentException(buffers + " buffers");
    }
  }

  /** The number of positions in KV caches, including those of this run. */
  public PlanOptions filled(long positions) {
    return with(
        new Assumptions(OptionalLong.of(positions), assumptions.floats(), assumptions.weights()));
  }

  /** The element type that floats are assumed to have, as if the model were quantised. */
  public PlanOptions floats(ElementType type) {
    return with(new Assumptions(assumptions.filled(), Optional.of(type), assumptions.weights()));
  }

  /** How the constant matrices of products are stored. */
  public PlanOptions weights(Packing packing) {
    return with(assumptions.with(packing));
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
