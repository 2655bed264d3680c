package io.partita.driver;

import io.partita.driver.evaluate.CalibrationFile;
import io.partita.driver.evaluate.RankingFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockRanking;
import io.partita.passes.mesh.sync.SyncCode;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The user's choice of how devices communicate the sums of blocks.
 *
 * @param rules such as {@code blocks 0-3: drop; blocks 4-5: int4+bf16(k=8)}
 * @param calibration a file of {@code partita calibrate}
 * @param ranking a file of {@code partita rank}
 */
public record SyncSelection(
    Optional<String> rules, Optional<Path> calibration, Optional<Path> ranking) {
  /**
   * Returns the chosen rewrites.
   *
   * @throws PartitaException if the rules or one of the files aren't valid
   */
  public SyncRewrites rewrites() {
    Optional<BlockRanking> order = order();
    return new SyncRewrites(
        parsed(order), calibration.map(file -> CalibrationFile.read(file).calibration()), order);
  }

  /**
   * Returns the distribution to calibrate: devices gather what the chosen rewrites take, and only
   * the dropped syncs are rewritten.
   */
  public Sharding calibrated(Strategy strategy) {
    Optional<BlockRanking> order = order();
    SyncRules chosen = parsed(order);
    return new Sharding(
        strategy, chosen.gathers(), new SyncRewrites(chosen.drops(), Optional.empty(), order));
  }

  /** Returns the methods of the rules that need codebooks. */
  public List<SyncMethod.Width.Vector> codebooks() {
    return parsed(order()).codebooks();
  }

  private Optional<BlockRanking> order() {
    return ranking.map(file -> RankingFile.read(file).ranking());
  }

  private SyncRules parsed(Optional<BlockRanking> order) {
    return rules.map(text -> SyncRules.parse(text, order)).orElse(SyncRules.NONE);
  }

  /**
   * Returns the distribution by a strategy; empty for one device.
   *
   * @throws PartitaException as for {@link #rewrites}, or if there are rules for one device
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
