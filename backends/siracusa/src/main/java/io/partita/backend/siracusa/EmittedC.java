package io.partita.backend.siracusa;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.EmittedProgram;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.file.EmittedFile;
import java.util.List;
import java.util.Optional;

/** A model as C: the files of its folder, and the description for callers. */
public record EmittedC(
    ChipDescription description, List<EmittedFile> files, Optional<EmittedSchedule> schedule)
    implements EmittedProgram {
  public EmittedC {
    files = List.copyOf(files);
  }
}
