package io.partita.cli;

import io.partita.backend.java.DeviceKey;
import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputTarget;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a key for devices on several computers. */
@Command(
    name = "key",
    description = {
      "Make the key by which devices on several computers authenticate each other, for --peers.",
      "Copy the file to all of them; whoever has it can connect."
    })
final class KeyCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE", description = "The file to write, such as devices.p12.")
  Path file;

  @Option(names = "--force", description = "Replace the file if it exists.")
  boolean force;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    try {
      OutputTarget target = OutputTarget.of(file);
      if (target.isStream()) {
        throw new FileSystemException(file.toString(), null, "a device or a pipe");
      }
      if (Files.exists(target.path()) && !force) {
        throw new PartitaException(
            DriverCode.OUTPUT_EXISTS,
            file.toString(),
            "a new file",
            "an existing file",
            "--force replaces it");
      }
      DeviceKey.make(target.path());
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    }
    spec.commandLine().getOut().println(file);
    return ExitCode.DONE;
  }
}
