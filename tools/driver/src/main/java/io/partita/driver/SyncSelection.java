package io.partita.driver;

import io.partita.driver.evaluate.CalibrationFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncCode;
import io.partita.passes.mesh.sync.SyncRules;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How devices exchange the sums of blocks, as a user writes it.
 *
 * @param rules such as {@code blocks 0-3: drop; blocks 4-5: int4+bf16(k=8)}
 * @param calibration a file of {@code partita calibrate}
 */
public record SyncSelection(Optional<String> rules, Optional<Path> calibration) {
  /** Exact sums. */
  public static final SyncSelection NONE = new SyncSelection(Optional.empty(), Optional.empty());

  /**
   * How a model is distributed by a strategy; none for one device.
   *
   * @throws PartitaException when the rules or the calibration aren't valid, or there are rules for
   *     one device
   */
  public Optional<Sharding> sharding(Optional<Strategy> strategy) {
    SyncRules parsed = rules.map(SyncRules::parse).orElse(SyncRules.NONE);
    if (strategy.isEmpty() && !parsed.isEmpty()) {
      throw new PartitaException(
          SyncCode.RULES,
          "--sync \"" + parsed + "\"",
          "a model on several devices",
          "one device",
          "add --devices N");
    }
    Optional<SyncCalibration> ranges =
        calibration.map(file -> CalibrationFile.read(file).calibration());
    parsed.passes(ranges);
    return strategy.map(chosen -> new Sharding(chosen, parsed, ranges));
  }
}
