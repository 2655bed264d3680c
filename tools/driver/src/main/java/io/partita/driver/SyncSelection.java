package io.partita.driver;

import io.partita.driver.evaluate.CalibrationFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncCode;
import io.partita.passes.mesh.sync.SyncRewrites;
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
  /**
   * The rewrites that are meant.
   *
   * @throws PartitaException when the rules or the calibration aren't valid
   */
  public SyncRewrites rewrites() {
    return new SyncRewrites(
        rules.map(SyncRules::parse).orElse(SyncRules.NONE),
        calibration.map(file -> CalibrationFile.read(file).calibration()));
  }

  /**
   * How a model is distributed by a strategy; none for one device.
   *
   * @throws PartitaException as {@link #rewrites}, or when there are rules for one device
   */
  public Optional<Sharding> sharding(Optional<Strategy> strategy) {
    SyncRewrites rewrites = rewrites();
    if (strategy.isEmpty() && !rewrites.isEmpty()) {
      throw new PartitaException(
          SyncCode.RULES,
          "--sync \"" + rewrites.rules() + "\"",
          "a model on several devices",
          "one device",
          "add --devices N");
    }
    return strategy.map(chosen -> new Sharding(chosen, rewrites));
  }
}
