package io.partita.backend.emitted;

import io.partita.ir.file.EmittedFile;
import java.util.List;

/** A program as a backend emits it. */
public interface EmittedProgram {
  Description description();

  /** The files of its folder. */
  List<EmittedFile> files();
}
