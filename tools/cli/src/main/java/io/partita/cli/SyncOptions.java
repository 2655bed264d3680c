package io.partita.cli;

import io.partita.driver.SyncSelection;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options for the sums of blocks between devices. */
final class SyncOptions {
  @Option(
      names = "--sync",
      paramLabel = "RULES",
      description =
          "How the sums of each block are communicated, such as 'blocks 0-3: drop; blocks 4,5:"
              + " int4+bf16(k=8); others: bf16'. By default all are exact.")
  String rules;

  @Option(
      names = "--calibration",
      paramLabel = "FILE",
      description =
          "The ranges for int4 and other integers, or the codebooks for vq: a file of 'partita"
              + " calibrate'.")
  Path calibration;

  @Option(
      names = "--ranking",
      paramLabel = "FILE",
      description = "The order of blocks for 'ranked N' in --sync: a file of 'partita rank'.")
  Path ranking;

  SyncSelection selection() {
    return new SyncSelection(
        Optional.ofNullable(rules), Optional.ofNullable(calibration), Optional.ofNullable(ranking));
  }

  /** The selection with a speculation. */
  SyncSelection selection(SpeculateOptions speculation) {
    return new SyncSelection(
        Optional.ofNullable(rules),
        Optional.ofNullable(calibration),
        Optional.ofNullable(ranking),
        Optional.ofNullable(speculation.text));
  }
}
