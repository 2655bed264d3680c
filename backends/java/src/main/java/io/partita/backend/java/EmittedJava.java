package io.partita.backend.java;

import io.partita.backend.emitted.EmittedProgram;
import io.partita.ir.file.EmittedFile;
import java.util.List;

/**
 * A model as Java: the files of its folder, and the description for callers.
 *
 * @param files the source, the weights and the description, in this order
 */
public record EmittedJava(JavaDescription description, List<EmittedFile> files)
    implements EmittedProgram {
  public EmittedJava {
    files = List.copyOf(files);
  }
}
