package io.partita.driver;

import io.partita.backend.emitted.Backend;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import java.util.Optional;

/** A target and its options: what compiles for it, and what runs the result on this computer. */
public interface CompilationTarget {
  Backend backend();

  /** Its name for people, such as {@code siracusa}. */
  String name();

  /**
   * Checks that the target has enough devices.
   *
   * @throws PartitaException P6017 if it doesn't
   */
  default void verifyDevices(int count) {}

  /**
   * Gives syncs the algorithms that are best on the target, if it has figures of its links, and
   * divides those that are sent faster while products are computed.
   *
   * @param module a module of the mesh dialect, or one for a single device
   */
  default Module withSyncs(Module module) {
    return module;
  }

  /**
   * Returns the programs of the devices.
   *
   * @param isPlanned whether a plan assumes that messages overlap with computation
   */
  default Entries.Programs programs(Entries distributed, boolean isPlanned) {
    return isPlanned ? Distribution.overlapping(distributed) : Distribution.programs(distributed);
  }

  /**
   * Adds changes that make a program fit, if there are any, to a diagnostic of the backend.
   *
   * @param whole the entry points before distribution
   * @param distributed the programs that the backend refused
   * @param progress receives the current step
   */
  default PartitaException withRemedies(
      PartitaException failure,
      Entries whole,
      Entries.Programs distributed,
      ProgressListener progress) {
    return failure;
  }

  /**
   * Returns a runner that emits modules, builds them and runs them on this computer.
   *
   * @param sharding the distribution; empty for one device
   */
  ModuleRunner runner(Optional<Sharding> sharding);
}
