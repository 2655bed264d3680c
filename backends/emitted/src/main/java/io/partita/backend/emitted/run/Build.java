package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.ScratchFolder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs {@code make} in an emitted folder. */
public final class Build {
  private static final Duration MAX_DURATION = Duration.ofMinutes(30);

  /** What the linker says if the memory of code, which is L2 or QEMU's, is too small. */
  private static final Pattern OVERFLOW =
      Pattern.compile("region `(L2|ram)' overflowed by (\\d+) bytes");

  private Build() {}

  /**
   * Builds a target of the makefile, incrementally.
   *
   * @param variables variables of make, {@code NAME=VALUE}
   * @throws PartitaException P5102 if there's no make or compiler, P5103 if the build fails, P5105
   *     if the port has too few chips, P5108 if the program doesn't fit a chip's memory
   */
  public static void run(Path folder, Port port, List<String> variables) {
    port.verifyChips(ChipDescription.read(folder).chips().size());
    for (List<String> any : port.programs()) {
      if (any.stream().noneMatch(program -> find(program).isPresent())) {
        throw new PartitaException(
            ProgramCode.NO_PROGRAM,
            "--on " + port.text(),
            String.join(" or ", any) + " on the path",
            "none",
            port.remedy());
      }
    }
    List<String> arguments = new ArrayList<>(List.of(port.text()));
    arguments.addAll(variables);
    make(folder, arguments);
  }

  /**
   * Runs {@code make} in a folder, incrementally. Builds in one folder follow each other, also
   * those of other processes, and end with this process.
   *
   * @param arguments targets and variables
   * @throws PartitaException P5002 if nothing can be written there, P5103 if it fails, P5108 if the
   *     program doesn't fit a chip's memory
   */
  public static void make(Path folder, List<String> arguments) {
    List<String> command =
        new ArrayList<>(List.of("make", "-s", "-j2", "-C", folder.toAbsolutePath().toString()));
    command.addAll(arguments);
    try (ScratchFolder scratch = new ScratchFolder();
        BuildLock _ = BuildLock.of(folder);
        ProcessGroup make = ProcessGroup.start(Port.HOST, List.of(command), scratch.path())) {
      if (!make.awaitEnd(MAX_DURATION)) {
        throw failed(folder, command, "no end after " + MAX_DURATION.toMinutes() + " minutes");
      }
      if (make.fails()) {
        throw failed(folder, command, make.messages());
      }
    } catch (IOException e) {
      throw failed(folder, command, FileFailure.words(folder, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(folder, command, "interrupted");
    }
  }

  private static PartitaException failed(Path folder, List<String> command, String found) {
    Matcher overflow = OVERFLOW.matcher(found);
    if (overflow.find()) {
      return new PartitaException(
          ProgramCode.NO_ROOM,
          folder.toString(),
          "code and tables within what the target reserves for them in " + overflow.group(1),
          overflow.group(2) + " bytes more",
          "compile for a target that reserves more, such as --target siracusa:reserved=192KiB, or"
              + " build without --profile");
    }
    return new PartitaException(
        ProgramCode.BUILD_FAILED,
        folder.toString(),
        String.join(" ", command) + " to succeed",
        found,
        "compile the model again; if it still fails, report it with this text");
  }

  /** A program on the path. */
  public static Optional<Path> find(String program) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
