package io.partita.driver;

import io.partita.driver.evaluate.CalibrationFile;
import io.partita.driver.evaluate.RankingFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.SpeculationCode;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockRanking;
import io.partita.passes.mesh.sync.SyncCode;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The user's choice of how devices communicate the sums of blocks.
 *
 * @param rules such as {@code blocks 0-3: drop; blocks 4-5: int4+bf16(k=8)} {@code attention:
 *     speculate(lambda=0.1,chunk=128)} among them is a speculation
 * @param calibration a file of {@code partita calibrate}
 * @param ranking a file of {@code partita rank}
 * @param speculate the options of a speculation on attention, as an alternative to its rule
 */
public record SyncSelection(
    Optional<String> rules,
    Optional<Path> calibration,
    Optional<Path> ranking,
    Optional<String> speculate) {
  private static final Pattern SPECULATION =
      Pattern.compile("\\s*attention\\s*:\\s*speculate\\s*\\(([^()]*)\\)\\s*");

  /** A choice of rules alone. */
  public SyncSelection(Optional<String> rules, Optional<Path> calibration, Optional<Path> ranking) {
    this(rules, calibration, ranking, Optional.empty());
  }

  /**
   * Returns the chosen speculation.
   *
   * @throws PartitaException with {@link SpeculationCode#OPTIONS}
   */
  public Optional<Speculation> speculation() {
    List<Speculation> found = new ArrayList<>();
    speculate.ifPresent(text -> found.add(Speculation.parse("--speculate", text)));
    for (String clause : clauses()) {
      Matcher matcher = SPECULATION.matcher(clause);
      if (matcher.matches()) {
        found.add(Speculation.parse("--sync \"" + clause.strip() + '"', matcher.group(1)));
      }
    }
    if (found.size() > 1) {
      throw SpeculationCode.OPTIONS.at(
          "--speculate", "one speculation", found, "write it once, in --speculate or in --sync");
    }
    return found.stream().findFirst();
  }

  private List<String> clauses() {
    return rules.map(text -> List.of(text.split(";", -1))).orElse(List.of());
  }

  /** The rules for sums, without the speculation. */
  private Optional<String> sums() {
    return clauses().stream()
        .filter(clause -> !SPECULATION.matcher(clause).matches())
        .reduce((one, other) -> one + ";" + other);
  }

  /**
   * Returns the chosen rewrites.
   *
   * @throws PartitaException if the rules or one of the files aren't valid
   */
  public SyncRewrites rewrites() {
    requireRules("--calibration", calibration, "--sync int4");
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

  /** Refuses a file that no rule can read: the sums would be exact, without a word. */
  private void requireRules(String option, Optional<Path> file, String example) {
    if (file.isPresent() && sums().isEmpty()) {
      throw new PartitaException(
          SyncCode.RULES,
          option + " " + file.get(),
          "rules that read it",
          "none",
          "add --sync with rules, such as " + example + ", or leave " + option + " out");
    }
  }

  private Optional<BlockRanking> order() {
    requireRules("--ranking", ranking, "--sync 'insensitive: drop'");
    return ranking.map(file -> RankingFile.read(file).ranking());
  }

  private SyncRules parsed(Optional<BlockRanking> order) {
    return sums().map(text -> SyncRules.parse(text, order)).orElse(SyncRules.NONE);
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
    Optional<Speculation> speculation = speculation();
    if (speculation.isPresent()) {
      requireGroups(strategy, rewrites);
    }
    return strategy.map(
        chosen -> new Sharding(chosen, rewrites.rules().gathers(), rewrites, speculation));
  }

  private static void requireGroups(Optional<Strategy> strategy, SyncRewrites rewrites) {
    String where = "--speculate";
    if (strategy.isEmpty()) {
      throw SpeculationCode.GROUPS.at(
          where, "a model on several devices", "one device", "add --devices 2");
    }
    if (!strategy.get().equals(Strategy.tensor(strategy.get().devices()))) {
      throw SpeculationCode.GROUPS.at(
          where,
          "a tensor split, of which one half speculates for the other",
          strategy.get(),
          "leave --strategy out");
    }
    if (!rewrites.isEmpty()) {
      throw SpeculationCode.GROUPS.at(
          where, "exact sums of blocks", rewrites.rules(), "leave the other rules of --sync out");
    }
  }
}
