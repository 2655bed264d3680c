package io.partita.backend.metalium;

import io.partita.backend.emitted.EmittedProgram;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.file.EmittedFile;
import java.util.List;
import java.util.Optional;

/** A model in TT-Metalium: the files of its folder, and the description for callers. */
public record EmittedMetalium(
    MetaliumDescription description, List<EmittedFile> files, Optional<EmittedSchedule> schedule)
    implements EmittedProgram {
  public EmittedMetalium {
    files = List.copyOf(files);
  }
}
