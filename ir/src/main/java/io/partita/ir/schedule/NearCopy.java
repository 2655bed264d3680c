package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.List;
import java.util.Optional;

/**
 * A loop that only copies values from the working memory to the home memory, such as the new rows
 * of a cache: a transfer can do so without a kernel.
 *
 * @param from the number of the operand in the working memory
 * @param to the number of the stored operand
 */
public record NearCopy(int from, int to) {
  /** Returns the copy that a loop is; empty if it has several tiles or computes something. */
  public static Optional<NearCopy> of(TiledKernel kernel) {
    List<ElementRun> runs = ElementRun.of(kernel.calls());
    return kernel.tiles() == 1
            && runs.size() == 1
            && runs.getFirst().calls() == kernel.calls().size()
        ? of(runs.getFirst()).filter(copy -> copy.isFromNear(kernel))
        : Optional.empty();
  }

  private static Optional<NearCopy> of(ElementRun run) {
    return run.steps().isEmpty()
            && run.source() instanceof ElementRun.Stored(_, Value.OperandPointer from)
            && run.out() instanceof Value.OperandPointer to
            && from.offset().equals(TileExpression.of(0))
            && to.offset().equals(TileExpression.of(0))
        ? Optional.of(new NearCopy(from.operand(), to.operand()))
        : Optional.empty();
  }

  private boolean isFromNear(TiledKernel kernel) {
    return kernel.operands().get(from).isNear() && kernel.operands().get(to).isMoved();
  }
}
