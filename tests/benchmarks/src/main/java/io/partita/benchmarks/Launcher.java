package io.partita.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts {@code ./partita}. */
final class Launcher {
  /** Prints the time of the shell, then that of the command: user and system. */
  private static final String TIMED = "\"$@\" || exit; LC_ALL=C times";

  private final Path output;

  /**
   * @param folder the folder for the command's output
   */
  Launcher(Path folder) {
    this.output = folder.resolve("partita.out");
  }

  /**
   * Returns the wall time of the command in seconds, including the start of the JVM.
   *
   * @throws IllegalStateException when the command fails
   */
  double seconds(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of("partita").toAbsolutePath().toString());
    command.addAll(List.of(arguments));
    return run(command);
  }

  /**
   * Returns the processor time of the command in seconds, which barely depends on other load.
   *
   * @throws IllegalStateException when the command fails
   */
  double processorSeconds(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("sh", "-c", TIMED, "sh"));
    command.add(Path.of("partita").toAbsolutePath().toString());
    command.addAll(List.of(arguments));
    run(command);
    List<String> printed = Files.readAllLines(output);
    double seconds = 0;
    for (String each : printed.getLast().split(" ")) {
      String[] parts = each.split("[ms]");
      seconds += 60 * Integer.parseInt(parts[0]) + Double.parseDouble(parts[1]);
    }
    return seconds;
  }

  private double run(List<String> command) throws IOException, InterruptedException {
    long start = System.nanoTime();
    int status =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start()
            .waitFor();
    double seconds = (System.nanoTime() - start) / 1e9;
    if (status != 0) {
      throw new IllegalStateException(
          String.join(" ", command) + " ended with " + status + "\n" + Files.readString(output));
    }
    return seconds;
  }

  /** Returns the least of several runs, because other load only adds to the time. */
  double least(int runs, String... arguments) throws IOException, InterruptedException {
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < runs; i++) {
      least = Math.min(least, seconds(arguments));
    }
    return least;
  }
}
