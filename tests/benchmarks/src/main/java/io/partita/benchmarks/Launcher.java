package io.partita.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts {@code ./partita} as a user would. */
final class Launcher {
  private final Path output;

  /**
   * @param folder for what the command prints
   */
  Launcher(Path folder) {
    this.output = folder.resolve("partita.out");
  }

  /**
   * Wall time of the command in seconds, the JVM's start included.
   *
   * @throws IllegalStateException when the command fails
   */
  double seconds(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of("partita").toAbsolutePath().toString());
    command.addAll(List.of(arguments));
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

  /** The least of several runs: what else the machine did only adds to the time. */
  double least(int runs, String... arguments) throws IOException, InterruptedException {
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < runs; i++) {
      least = Math.min(least, seconds(arguments));
    }
    return least;
  }
}
