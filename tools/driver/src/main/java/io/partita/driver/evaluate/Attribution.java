package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockNumbers;
import io.partita.passes.mesh.sync.BlockOutputs;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.SyncReport;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.ProgramPlanner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Attributes bytes, latency and loss to syncs: what each sync sends without and with the rewrites,
 * and what the rewrite of each sync and block alone changes in the block's output and in the
 * metric. A dropped sync changes what the next one of its block adds; so the encoding of that one
 * is only measured together with the drop.
 */
public final class Attribution {
  /** The number of samples on which the outputs of blocks are compared. */
  private static final int COMPARED = 4;

  /**
   * A sync.
   *
   * @param name the name of the exchanged value
   * @param block the transformer block, or -1 outside of blocks
   * @param role its role in the block or the model, such as {@code output}; may be empty
   * @param exactBytes the bytes that all devices send per token without rewrites
   * @param bytes the same with all rewrites
   * @param exactSeconds the predicted time without rewrites, if a target is given
   * @param seconds the same with all rewrites
   * @param alone the effect if only this sync is rewritten
   */
  public record Sync(
      String name,
      int block,
      String role,
      double exactBytes,
      double bytes,
      OptionalDouble exactSeconds,
      OptionalDouble seconds,
      Optional<Effect> alone) {}

  /**
   * The effect of a rewrite.
   *
   * @param error of the block's output: the L2 norm of the difference to the exact output, relative
   *     to the norm of the exact output
   * @param value the metric
   */
  public record Effect(double error, double value) {}

  /**
   * A rewritten block.
   *
   * @param method the method of its syncs
   * @param alone the effect if only this block is rewritten
   */
  public record Block(int block, String method, Effect alone) {}

  /**
   * The result.
   *
   * @param exact the metric without rewrites
   * @param value the metric with all rewrites
   */
  public record Result(
      String metric, double exact, double value, List<Sync> syncs, List<Block> blocks) {}

  /** The score of a sample and, for the first ones, the outputs of blocks in each of its runs. */
  private record Sample(Score score, List<Map<Integer, Tensor>> outputs) {}

  /** The samples of a program. */
  private record Measured(Metric metric, List<Sample> samples) {
    double value() {
      Score all = samples.stream().map(Sample::score).reduce(Score.NONE, Score::plus);
      return metric.value(all.mean());
    }
  }

  private final Evaluation.Request request;
  private final Sharding sharding;
  private final Optional<TargetDescription> target;
  private final ProgressListener progress;
  private final Module module;

  /**
   * @param request the evaluation, with rewrites
   * @param target the target for which latencies are predicted
   */
  public Attribution(
      Evaluation.Request request,
      Optional<TargetDescription> target,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    this.request = request;
    this.sharding = request.sharding().orElseThrow();
    this.target = target;
    this.progress = progress;
    this.module =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(notes, progress)::prepare);
  }

  /**
   * @param whole the result of the evaluation with all rewrites
   */
  public Result run(Evaluation.Result whole) {
    SyncRules rules = sharding.syncs().rules();
    Module exact = sharding.exact(module);
    int count = BlockNumbers.of(exact.graph()).count();
    List<SyncRules> alone =
        IntStream.range(0, count).mapToObj(block -> rules.alone(block, count)).toList();
    Set<Integer> rewritten =
        IntStream.range(0, count)
            .filter(block -> !alone.get(block).isExact())
            .boxed()
            .collect(Collectors.toSet());
    Measured reference = measured(exact, rewritten, "exact: ");
    List<Block> blocks = new ArrayList<>();
    Map<String, Effect> effects = new LinkedHashMap<>();
    for (int block : rewritten.stream().sorted().toList()) {
      String step = "block %d, %d of %d: ".formatted(block, blocks.size() + 1, rewritten.size());
      Alone measurement = new Alone(exact, block, reference, step);
      Effect effect = measurement.effect(alone.get(block));
      blocks.add(new Block(block, rules.method(block).toString(), effect));
      List<String> encoded = rules.encoded(exact, block);
      Optional<String> dropped = rules.dropped(exact, block);
      if (dropped.isPresent()) {
        boolean isAll = encoded.isEmpty();
        SyncRules drop = alone.get(block).drops();
        effects.put(dropped.get(), isAll ? effect : measurement.effect(drop));
      } else {
        for (String sync : encoded) {
          boolean isAll = encoded.size() == 1;
          SyncRules one = rules.alone(block, sync);
          effects.put(sync, isAll ? effect : measurement.effect(one));
        }
      }
    }
    return new Result(
        whole.metric(),
        reference.value(),
        whole.value(),
        syncs(exact, whole.tokensPerRun(), effects),
        blocks);
  }

  /** Measures rewrites of one block. */
  private final class Alone {
    private final Module exact;
    private final int block;
    private final Measured reference;
    private final String step;

    Alone(Module exact, int block, Measured reference, String step) {
      this.exact = exact;
      this.block = block;
      this.reference = reference;
      this.step = step;
    }

    Effect effect(SyncRules rules) {
      Measured found = measured(rewrites(rules).run(exact), Set.of(block), step);
      return new Effect(error(block, reference.samples(), found.samples()), found.value());
    }
  }

  private SyncRewrites rewrites(SyncRules rules) {
    return new SyncRewrites(rules, sharding.syncs().calibration(), sharding.syncs().ranking());
  }

  /** Runs a module of the mesh dialect on all samples. */
  private Measured measured(Module mesh, Set<Integer> blocks, String step) {
    BlockOutputs.Measuring measuring = BlockOutputs.of(mesh, blocks);
    progress.step(step + "compiling Java");
    EmittedJava emitted =
        JavaTarget.USUAL.backend().emit(Distribution.program(measuring.module()), Optional.empty());
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Metric metric =
          MetricChoice.of(
              request.model().model(),
              request.data(),
              request.scaling(),
              new MeasuredRun<>(
                  scorers.first(), measuring, measuring::values, (one, other) -> other));
      int samples = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
      List<Sample> found =
          scorers.each(
              0,
              samples,
              (program, sample) -> {
                MeasuredRun<List<Map<Integer, Tensor>>> run =
                    new MeasuredRun<>(
                        program,
                        measuring,
                        outputs ->
                            sample < COMPARED ? List.of(measuring.values(outputs)) : List.of(),
                        (one, other) -> Stream.concat(one.stream(), other.stream()).toList());
                Score score = metric.score(run, sample);
                return new Sample(score, run.measured());
              },
              new SampleProgress(step + "evaluated", 0, samples, progress));
      return new Measured(metric, found);
    }
  }

  private static double error(int block, List<Sample> reference, List<Sample> found) {
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < Math.min(COMPARED, found.size()); i++) {
      for (int run = 0; run < found.get(i).outputs().size(); run++) {
        double[] exact = reference.get(i).outputs().get(run).get(block).doubles();
        double[] other = found.get(i).outputs().get(run).get(block).doubles();
        for (int j = 0; j < exact.length; j++) {
          difference += (other[j] - exact[j]) * (other[j] - exact[j]);
          norm += exact[j] * exact[j];
        }
      }
    }
    return Math.sqrt(difference / norm);
  }

  private List<Sync> syncs(Module exact, long tokensPerRun, Map<String, Effect> effects) {
    Map<String, Node> places = new LinkedHashMap<>();
    Map<String, Long> before = bytes(Distribution.program(exact), places);
    Map<String, Long> after = bytes(Distribution.program(sharding.syncs().run(exact)), places);
    Map<String, Double> exactSeconds = seconds(SyncRewrites.NONE);
    Map<String, Double> seconds = seconds(sharding.syncs());
    List<Sync> syncs = new ArrayList<>();
    places.forEach(
        (name, node) ->
            syncs.add(
                new Sync(
                    name,
                    node.origin().block().orElse(-1),
                    node.origin().role(),
                    (double) before.getOrDefault(name, 0L) / tokensPerRun,
                    (double) after.getOrDefault(name, 0L) / tokensPerRun,
                    time(exactSeconds, name),
                    time(seconds, name),
                    Optional.ofNullable(effects.get(name)))));
    return syncs;
  }

  private OptionalDouble time(Map<String, Double> seconds, String name) {
    return target.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(seconds.getOrDefault(name, 0.0));
  }

  /**
   * Returns the bytes that devices send, by the name of the exchanged value.
   *
   * @param places receives an exchange for each new name
   */
  private static Map<String, Long> bytes(Program program, Map<String, Node> places) {
    Map<String, Long> bytes = new LinkedHashMap<>();
    for (var device : program.devices()) {
      for (Node node : device.graph().nodes()) {
        if (node.op() instanceof Communication.Exchange exchange) {
          long sent =
              exchange.steps().stream()
                  .filter(Step.Send.class::isInstance)
                  .mapToLong(Step::bytes)
                  .sum();
          bytes.merge(node.name(), sent, Long::sum);
          places.putIfAbsent(node.name(), node);
        }
      }
    }
    return bytes;
  }

  /** Returns the predicted seconds of syncs, by the name of the exchanged value. */
  private Map<String, Double> seconds(SyncRewrites rewrites) {
    Map<String, Double> seconds = new LinkedHashMap<>();
    if (target.isPresent()) {
      progress.step("predicting latencies");
      Strategy strategy = sharding.strategy();
      ProgramPlanner planner =
          new ProgramPlanner(
              module,
              target.get(),
              PlanOptions.DEFAULT,
              Goal.LATENCY,
              sharding.gathers(),
              rewrites);
      for (SyncReport sync : planner.plan(strategy).report().syncs()) {
        seconds.merge(sync.name(), sync.seconds(), Double::sum);
      }
    }
    return seconds;
  }
}
