package io.partita.ir.file;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;
import java.io.IOException;
import java.nio.file.Path;

/** Diagnostics of writing and opening folders. */
public enum FolderCode implements DiagnosticCode {
  OUTPUT_FOLDER("P5002", "a folder can't be written"),
  NOT_REPLACEABLE("P5003", "the output folder holds something else"),
  CHANGED_FILES("P5030", "files of the program were modified"),
  NO_CHECKSUMS("P5031", "the checksums of the program can't be read"),
  OTHER_FILES("P5032", "files of the program differ from the compiled ones", Severity.NOTE);

  private final String id;
  private final String title;
  private final Severity severity;

  FolderCode(String id, String title) {
    this(id, title, Severity.ERROR);
  }

  FolderCode(String id, String title, Severity severity) {
    this.severity = severity;
    this.id = id;
    this.title = title;
  }

  /**
   * A folder can't be written.
   *
   * @param instead what to do if it's in the wrong place
   */
  public static PartitaException unwritable(Path folder, IOException cause, String instead) {
    return new PartitaException(
        OUTPUT_FOLDER,
        folder.toString(),
        "a writable folder, and enough space",
        FileFailure.words(folder, cause),
        "check its permissions and the free space, or " + instead);
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Severity severity() {
    return severity;
  }

  @Override
  public String title() {
    return title;
  }

  @Override
  public boolean isOfComputer() {
    return this == OUTPUT_FOLDER;
  }
}
