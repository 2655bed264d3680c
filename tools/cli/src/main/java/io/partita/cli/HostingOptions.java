package io.partita.cli;

import io.partita.backend.java.DeviceHosting;
import io.partita.backend.java.JavaDescription;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for the location of a program's devices. */
final class HostingOptions {
  @Option(
      names = "--processes",
      description = "Run each device as a process; by default each is a thread.")
  boolean processes;

  @Option(
      names = "--peers",
      paramLabel = "HOST:PORT,...",
      description =
          "Run devices on several computers: the address of each, starting with device 0. The others are"
              + " started with 'partita run DIR --device I' and the same list.")
  String peers;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The shared key of the computers in --peers; 'partita key FILE' makes it.")
  Path key;

  /**
   * Returns the location of the devices of the program in a folder.
   *
   * @throws ParameterException if the options contradict each other or the program
   */
  DeviceHosting hosting(Path folder, CommandSpec spec) {
    CommandLine command = spec.commandLine();
    if (processes && peers != null) {
      throw new ParameterException(command, "--processes and --peers: choose one");
    }
    if ((peers == null) != (key == null)) {
      throw new ParameterException(
          command,
          "--peers LIST and --key FILE go together: make a key with 'partita key FILE', and copy it to"
              + " all computers");
    }
    boolean isForOne = JavaDescription.read(folder).group().isEmpty();
    if (!processes && peers == null) {
      return new DeviceHosting.Threads();
    }
    if (isForOne) {
      throw new ParameterException(
          command,
          folder + " holds a program for one device; compile the model with --devices 2, or more");
    }
    return processes ? new DeviceHosting.Processes() : new DeviceHosting.Peers(peers, key);
  }
}
