package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.ProgramPlanner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Consumer;

/**
 * Searches for the mix of methods for the sums of blocks that sends the fewest bytes within a limit
 * on the loss in the metric. The loss of each method is measured in each block alone, and losses
 * are assumed to add up. Of the mixes that are best under this assumption, some near the limit are
 * measured.
 */
public final class MixSearch {
  /** The most mixes to measure. */
  private static final int MAX_TRIES = 12;

  /**
   * The search to run.
   *
   * @param model the model and its data, as for an evaluation
   * @param methods the methods to choose from
   * @param maxLoss the largest allowed loss relative to the exact value, such as 0.01
   * @param target the target for which the latency of mixes is predicted
   * @param isExhaustive whether to measure all mixes, and to compare the best with what the search
   *     finds
   * @param output the file of measurements, which is resumed if it belongs to the same model
   */
  public record Request(
      Evaluation.Request model,
      Strategy strategy,
      Optional<SyncCalibration> calibration,
      List<SyncMethod> methods,
      double maxLoss,
      Optional<TargetDescription> target,
      boolean isExhaustive,
      Optional<Path> output) {
    public Request {
      methods = List.copyOf(methods);
    }

    private SyncRewrites rewrites(SyncRules rules) {
      return new SyncRewrites(rules, calibration, Optional.empty());
    }
  }

  /**
   * A measured mix.
   *
   * @param value the value of the metric
   * @param loss the loss relative to the exact value
   * @param bytes the bytes that all devices send per token
   * @param seconds the predicted time of a run
   */
  public record Mix(
      SyncRules rules, double value, double loss, double bytes, OptionalDouble seconds) {}

  /**
   * The result of the search.
   *
   * @param best the mix with the fewest bytes within the limit
   * @param front the Pareto front of the measured mixes in bytes and value
   * @param measured the number of measured mixes
   * @param searched after all mixes were measured, the one that the search finds, if any
   */
  public record Result(
      String metric, Mix exact, Mix best, List<Mix> front, int measured, Optional<Mix> searched) {}

  private static final Comparator<Mix> CHEAPEST =
      Comparator.comparingDouble(Mix::bytes).thenComparingDouble(Mix::loss);

  private final Request request;
  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;
  private final Module module;
  private final int blocks;
  private final TuningFile.Measured exact;
  private TuningFile file;
  private final SequencedMap<SyncRules, Mix> mixes = new LinkedHashMap<>();

  /**
   * Measures the exact model.
   *
   * @throws PartitaException if the model can't be compiled, with {@link MetricCode} if it has no
   *     sums or the data doesn't fit
   */
  public MixSearch(Request request, Consumer<Diagnostic> notes, ProgressListener progress) {
    this.request = request;
    this.notes = notes;
    this.progress = progress;
    Compilation.Request model = request.model().model();
    this.module =
        MetricChoice.prepared(
            model, request.model().data(), new Compilation(notes, progress)::prepare);
    this.file =
        TuningFile.begun(
            request.output(),
            MeasuredModel.of(request.model(), new ShardPass(request.strategy()).run(module)),
            request.calibration());
    this.blocks = file.model().weights().size();
    if (blocks == 0) {
      throw MetricCode.MIX.at(
          model.model().toString(),
          "blocks with a sum after attention",
          "none",
          "tune a transformer on several devices, split by tensor=N");
    }
    this.exact = measured(SyncRules.NONE, "exact: ");
  }

  private TuningFile.Measured measured(SyncRules rules, String step) {
    String text = rules.toString();
    if (!file.measured().containsKey(text)) {
      Sharding sharding = new Sharding(request.strategy(), request.rewrites(rules));
      Evaluation.Result result =
          new Evaluation(notes, progress.prefixed(step)).run(request.model(), sharding.run(module));
      file = file.with(text, result);
    }
    return file.measured().get(text);
  }

  /** The loss in the unit in which losses add up: nats for perplexity, samples for top-1. */
  private double added(TuningFile.Measured result) {
    double difference = result.mean() - exact.mean();
    return file.isLargerBetter() ? -difference : difference;
  }

  /** The limit in this unit. */
  private double limit() {
    return file.isLargerBetter() ? request.maxLoss() * exact.mean() : Math.log1p(request.maxLoss());
  }

  private Mix mix(SyncRules rules, TuningFile.Measured result) {
    double difference = result.value() / exact.value() - 1;
    OptionalDouble seconds =
        request.target().stream().mapToDouble(target -> seconds(rules, target)).findFirst();
    Mix mix =
        new Mix(
            rules,
            result.value(),
            file.isLargerBetter() ? -difference : difference,
            result.bytes(),
            seconds);
    mixes.put(rules, mix);
    return mix;
  }

  private double seconds(SyncRules rules, TargetDescription target) {
    return new ProgramPlanner(
            module, target, PlanOptions.DEFAULT, Goal.LATENCY, request.rewrites(rules))
        .plan(request.strategy())
        .seconds();
  }

  private SyncRules rules(List<Integer> methods) {
    SyncRules rules = SyncRules.of(methods.stream().map(request.methods()::get).toList());
    return rules.isExact() ? SyncRules.NONE : rules;
  }

  /**
   * @throws PartitaException with {@link MetricCode#MIX} if no mix was found within the limit
   */
  public Result run() {
    Mix whole = mix(SyncRules.NONE, exact);
    Optional<Mix> all = request.isExhaustive() ? all() : Optional.empty();
    Optional<Mix> searched = searched();
    Mix best = (request.isExhaustive() ? all : searched).orElseThrow(this::unreached);
    return new Result(
        file.metric(),
        whole,
        best,
        front(),
        mixes.size(),
        request.isExhaustive() ? searched : Optional.empty());
  }

  private PartitaException unreached() {
    Mix closest =
        mixes.values().stream().skip(1).min(Comparator.comparingDouble(Mix::loss)).orElseThrow();
    return MetricCode.MIX.at(
        String.format(Locale.ROOT, "--max-loss %.2f%%", 100 * request.maxLoss()),
        "a mix of the methods within it",
        String.format(
            Locale.ROOT,
            "a loss of %.2f%% with the closest one, %s",
            100 * closest.loss(),
            closest.rules()),
        "allow more, or add exact to --methods");
  }

  private Optional<Mix> searched() {
    List<MixFront.Mix> front = MixFront.of(costs());
    return MixFront.cheapest(front, limit(), MAX_TRIES, this::loss)
        .map(found -> mixes.get(rules(found.methods())));
  }

  /** Measures a mix of the front. */
  private double loss(MixFront.Mix predicted) {
    SyncRules rules = rules(predicted.methods());
    String step = "mix of %,.0f bytes: ".formatted(exact.bytes() + predicted.bytes());
    TuningFile.Measured result = measured(rules, step);
    mix(rules, result);
    return added(result);
  }

  private List<List<MixFront.Cost>> costs() {
    List<List<MixFront.Cost>> costs = new ArrayList<>();
    int count = blocks * request.methods().size();
    for (int block = 0; block < blocks; block++) {
      List<MixFront.Cost> each = new ArrayList<>();
      for (SyncMethod method : request.methods()) {
        int number = block * request.methods().size() + each.size() + 1;
        each.add(cost(block, method, "%d of %d: ".formatted(number, count)));
      }
      costs.add(each);
    }
    return costs;
  }

  private MixFront.Cost cost(int block, SyncMethod method, String step) {
    if (method.equals(SyncMethod.EXACT)) {
      return new MixFront.Cost(0, 0);
    }
    SyncRules all = SyncRules.of(Collections.nCopies(blocks, method));
    TuningFile.Measured result = measured(all.alone(block, blocks), step);
    return new MixFront.Cost(result.bytes() - exact.bytes(), added(result));
  }

  private Optional<Mix> all() {
    int methods = request.methods().size();
    long count = Math.round(Math.pow(methods, blocks));
    Optional<Mix> best = Optional.empty();
    for (long number = 0; number < count; number++) {
      List<Integer> chosen = new ArrayList<>();
      for (long left = number; chosen.size() < blocks; left /= methods) {
        chosen.add((int) (left % methods));
      }
      SyncRules rules = rules(chosen);
      TuningFile.Measured result = measured(rules, "%d of %d: ".formatted(number + 1, count));
      Mix mix = mix(rules, result);
      if (added(result) <= limit()) {
        best = best.filter(other -> CHEAPEST.compare(other, mix) <= 0).or(() -> Optional.of(mix));
      }
    }
    return best;
  }

  private List<Mix> front() {
    List<Mix> sorted = new ArrayList<>(mixes.values());
    sorted.sort(CHEAPEST);
    List<Mix> front = new ArrayList<>();
    for (Mix mix : sorted) {
      if (front.isEmpty() || mix.loss() < front.getLast().loss()) {
        front.add(mix);
      }
    }
    return front;
  }
}
