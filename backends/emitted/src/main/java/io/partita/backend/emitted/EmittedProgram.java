package io.partita.backend.emitted;

import io.partita.ir.file.EmittedFile;
import java.util.List;
import java.util.Optional;

/** A program as a backend emits it. */
public interface EmittedProgram {
  Description description();

  /** The files of its folder. */
  List<EmittedFile> files();

  /** Its schedule; empty on targets that don't run schedules. */
  default Optional<EmittedSchedule> schedule() {
    return Optional.empty();
  }
}
