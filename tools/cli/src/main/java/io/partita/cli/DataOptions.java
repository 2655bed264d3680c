package io.partita.cli;

import io.partita.driver.evaluate.Scaling;
import java.nio.file.Path;
import java.util.OptionalInt;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for the data that a model runs on. */
final class DataOptions {
  @Option(names = "--data", required = true, paramLabel = "FILE", description = "The data (.npz).")
  Path file;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Only the first N samples; by default all.")
  Integer count;

  @Option(
      names = "--mean",
      paramLabel = "X",
      description =
          "Subtracted from samples that aren't tokens, after dividing bytes by 255; by default"
              + " ${DEFAULT-VALUE}.")
  double mean;

  @Option(
      names = "--std",
      paramLabel = "X",
      description = "Then divides them; by default ${DEFAULT-VALUE}.")
  double deviation = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Samples to run in parallel; by default the number of processors.")
  int threads = Runtime.getRuntime().availableProcessors();

  /**
   * @throws ParameterException if a number is out of its option's range
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
