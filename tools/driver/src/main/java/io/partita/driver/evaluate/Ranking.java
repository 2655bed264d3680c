package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockRanking;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Measures the cost of dropping the sync after attention in each block, as in "SPD: Sync-Point Drop
 * for Efficient Tensor Parallelism of Large Language Models", section 4.2.1: from the last block to
 * the first, how much worse the metric gets when one more is dropped.
 */
public final class Ranking {
  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * The ranking to measure.
   *
   * @param model the model and its data, as for an evaluation, with the sharding of the strategy
   * @param insensitive tau 1
   * @param sensitive tau 2
   * @param scattered blocks whose heads are scattered besides extremely sensitive ones
   * @param output the file, which is resumed if it belongs to the same ranking
   */
  public record Request(
      Evaluation.Request model,
      Strategy strategy,
      double insensitive,
      double sensitive,
      BlockSelection scattered,
      Path output) {}

  public Ranking(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @return the ranking, as in the file
   * @throws io.partita.ir.diagnostic.PartitaException when the model can't be compiled or has no
   *     syncs to drop, with {@link MetricCode} when data or file don't fit
   */
  public RankingFile run(Request request) {
    Module module =
        MetricChoice.prepared(
            request.model().model(),
            request.model().data(),
            new Compilation(notes, progress)::prepare);
    Module sharded = new ShardPass(request.strategy()).run(module);
    List<String> weights = BlockRanking.weights(sharded);
    if (weights.isEmpty()) {
      throw MetricCode.RANKING_FILE.at(
          request.model().model().model().toString(),
          "blocks with a sum after attention",
          "none on " + sharded.placement().orElseThrow().mesh(),
          "rank a transformer on several devices, split by tensor=N");
    }
    RankingFile begun = begun(request, MeasuredModel.of(request.model(), sharded));
    List<Double> values = new ArrayList<>(begun.values());
    while (values.size() <= weights.size()) {
      int first = weights.size() - values.size();
      String rules = "blocks " + first + "-" + (weights.size() - 1) + ": drop";
      SyncRewrites dropped =
          values.isEmpty()
              ? SyncRewrites.NONE
              : SyncRewrites.of(SyncRules.parse(rules, Optional.empty()));
      String step = "%d of %d: ".formatted(values.size() + 1, weights.size() + 1);
      Evaluation.Result result =
          new Evaluation(notes, progress.prefixed(step))
              .run(request.model(), new Sharding(request.strategy(), dropped).run(module));
      values.add(result.value());
      begun =
          new RankingFile(
              request.output(),
              begun.mesh(),
              result.metric(),
              result.isLargerBetter(),
              begun.data(),
              weights,
              values,
              request.insensitive(),
              request.sensitive(),
              begun.heads());
      begun.write();
    }
    return scattered(request, module, begun);
  }

  /** Adds the order of heads of the blocks that need one. */
  private RankingFile scattered(Request request, Module module, RankingFile ranked) {
    RankingFile file = ranked;
    BlockRanking ranking = ranked.ranking();
    request.scattered().require("--scatter", ranking.blocks().size());
    List<Integer> blocks =
        IntStream.range(0, ranking.blocks().size())
            .filter(block -> !ranked.heads().containsKey(block))
            .filter(
                block ->
                    request.scattered().contains(block)
                        || ranking.kind(block) == BlockRanking.Kind.EXTREMELY_SENSITIVE)
            .boxed()
            .toList();
    HeadGrouping grouping =
        new HeadGrouping(request.model(), request.strategy(), module, Set.copyOf(blocks), progress);
    for (int block : blocks) {
      Map<Integer, List<Integer>> heads = new TreeMap<>(file.heads());
      heads.put(block, grouping.order(block));
      file = file.with(heads);
      file.write();
    }
    return file;
  }

  /** The contents of the file, or an empty ranking. */
  private static RankingFile begun(Request request, MeasuredModel model) {
    Path output = request.output();
    if (!Files.exists(output)) {
      return new RankingFile(
          output,
          model.mesh(),
          "",
          false,
          model.data(),
          model.weights(),
          List.of(),
          request.insensitive(),
          request.sensitive(),
          Map.of());
    }
    RankingFile there = RankingFile.readAny(output);
    boolean isSame =
        there.model().equals(model)
            && there.insensitive() == request.insensitive()
            && there.sensitive() == request.sensitive();
    if (!isSame) {
      throw MetricCode.RANKING_FILE.at(
          output.toString(),
          "no file yet, or one of this ranking, which is resumed",
          "a ranking of another model, other data, other devices or other thresholds",
          "choose another file with -o, or delete this one");
    }
    return there;
  }
}
