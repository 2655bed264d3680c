package io.partita.cli;

import io.partita.driver.evaluate.Scaling;
import java.nio.file.Path;
import java.util.OptionalInt;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What says which data a model is run on, and how. */
final class DataOptions {
  @Option(names = "--data", required = true, paramLabel = "FILE", description = "The data (.npz).")
  Path file;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Only so many samples, the first ones; by default all.")
  Integer count;

  @Option(
      names = "--mean",
      paramLabel = "X",
      description =
          "Subtracted from samples that aren't tokens, after bytes were divided by 255; by default"
              + " ${DEFAULT-VALUE}.")
  double mean;

  @Option(
      names = "--std",
      paramLabel = "X",
      description = "Divides them afterwards; by default ${DEFAULT-VALUE}.")
  double deviation = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Samples to run at once; by default as many as there are processors.")
  int threads = Runtime.getRuntime().availableProcessors();

  /**
   * @throws ParameterException when a number isn't one that its option takes
   */
  void verify(CommandSpec spec) {
    require(spec, "--samples", count == null || count >= 1, count, "1 or more");
    require(spec, "--threads", threads >= 1, threads, "1 or more");
    require(spec, "--mean", Double.isFinite(mean), mean, "a finite number");
    boolean isDivisor = Double.isFinite(deviation) && deviation > 0;
    require(spec, "--std", isDivisor, deviation, "a number above 0");
  }

  private static void require(
      CommandSpec spec, String option, boolean isRight, Object found, String expected) {
    if (!isRight) {
      throw new ParameterException(
          spec.commandLine(), option + " takes " + expected + ", not " + found);
    }
  }

  Scaling scaling() {
    return new Scaling(mean, deviation);
  }

  OptionalInt samples() {
    return count == null ? OptionalInt.empty() : OptionalInt.of(count);
  }
}
