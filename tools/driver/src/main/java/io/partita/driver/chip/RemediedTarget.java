package io.partita.driver.chip;

import io.partita.driver.CompilationTarget;
import io.partita.driver.Entries;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Unit;
import java.util.Map;

/** Chips whose sizes can be changed, to find what makes a program fit. */
interface RemediedTarget extends CompilationTarget {
  TargetDescription description();

  /** The bytes of the memory in which loops work. */
  long workingBytes();

  /** The largest size that a memory of these chips can be set to, in bytes. */
  long most(Memory memory);

  /** The same chips, with another size of the memory in which loops work. */
  RemediedTarget withWorkingBytes(long bytes);

  /** The same chips, as another description has them. */
  RemediedTarget with(TargetDescription description);

  /** The same chips, with another size of a memory. */
  default RemediedTarget with(Memory memory, long bytes) {
    return with(
        TargetChange.set(description(), Map.of(memory.name(), new Quantity(bytes, Unit.B))));
  }

  /**
   * Checks that programs fit.
   *
   * @throws PartitaException if they don't
   */
  void verifyFit(Entries.Programs programs);

  @Override
  default PartitaException withRemedies(
      PartitaException failure,
      Entries whole,
      Entries.Programs distributed,
      ProgressListener progress) {
    if (!ChipRemedies.mayHelp(failure)) {
      return failure;
    }
    progress.step("looking for changes that make it fit");
    return new ChipRemedies(whole, distributed.step().devices().size(), this)
        .named(failure, distributed);
  }
}
