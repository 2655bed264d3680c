package io.partita.cli;

import io.partita.backend.emitted.ProgramDescription;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.file.Checksums;
import io.partita.ir.file.FolderCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Options for opening the folder of a compiled program. */
final class FolderOptions {
  @Option(
      names = "--allow-changes",
      description =
          "Run the program even if files of its folder were changed since it was compiled. A note"
              + " names them.")
  boolean allowChanges;

  /**
   * Compares the files of a program with their checksums. Java programs compare those of weights
   * themselves.
   *
   * @throws io.partita.ir.diagnostic.PartitaException P5030 or P5031
   */
  void verify(Path folder, CommandSpec spec) {
    if (allowChanges) {
      noteChanges(folder, spec);
    } else if (isProgram(folder)) {
      List<String> changed = Checksums.changed(folder, FolderOptions::isVerified);
      if (!changed.isEmpty()) {
        throw Checksums.refusal(
            folder,
            changed,
            changed.contains(ProgramDescription.FILE)
                ? ""
                : "; if the changes are meant, add --allow-changes");
      }
    }
  }

  /**
   * Names changed files in a note, and continues.
   *
   * @throws io.partita.ir.diagnostic.PartitaException P5030 if the description has changed, since
   *     the other files depend on it
   */
  static void noteChanges(Path folder, CommandSpec spec) {
    if (!Files.exists(folder.resolve(Checksums.FILE))) {
      return;
    }
    List<String> changed = Checksums.changed(folder, FolderOptions::isVerified);
    if (changed.contains(ProgramDescription.FILE)) {
      throw Checksums.refusal(folder, List.of(ProgramDescription.FILE), "");
    }
    if (!changed.isEmpty()) {
      spec.commandLine()
          .getErr()
          .println(
              new Diagnostic(
                  FolderCode.OTHER_FILES,
                  folder.toString(),
                  "",
                  String.join(", ", changed),
                  "compile the model again to restore the files"));
    }
  }

  /** What isn't a program at all gets another diagnostic. */
  private static boolean isProgram(Path folder) {
    return Files.exists(folder.resolve(ProgramDescription.FILE))
        || Files.exists(folder.resolve(Checksums.FILE));
  }

  private static boolean isVerified(String path) {
    return !path.endsWith(".weights");
  }
}
