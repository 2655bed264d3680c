package io.partita.tests.latency;

import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import io.partita.passes.mesh.sync.TokenStatistics;
import io.partita.passes.mesh.sync.TokenSync;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.ProgramPlanner;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Predictions of the planner for the zoo's {@code encoder-base} on {@code wifi-laptops}, without
 * latency of messages and without overlap of messages and computing.
 */
final class EncoderLatency {
  static final String LAPTOPS = "wifi-laptops";

  private static final int SIZE = 1024;
  private static final int NARROW = 256;
  private static final int USUAL_MEGABITS = 100;
  private static final Residual UNKNOWN = new Residual(0, 0, 0, new float[0], new float[0]);

  /**
   * The paper charges an all-reduce as many bytes as an all-gather. A reduce-scatter and an
   * all-gather take twice as many, so tensor parallelism is given twice the bandwidth.
   */
  static final int TENSOR_BANDWIDTH = 2;

  private final Path file;
  private final Map<Integer, Module> modules = new HashMap<>();
  private final Map<Integer, SyncRewrites> rewrites = new HashMap<>();
  private final Map<Split, Program> programs = new HashMap<>();

  /**
   * @param groups of features with an index each; 0 if tokens don't travel as indices
   */
  private record Split(Strategy strategy, int groups, int tokens) {
    static Split none(int tokens) {
      return new Split(Strategy.parse("tensor=1"), 0, tokens);
    }

    static Split of(LatencyMethod method, int devices, int tokens) {
      return new Split(Strategy.parse(method.strategy(devices)), method.groups(), tokens);
    }
  }

  EncoderLatency(Path folder) throws IOException {
    file = folder.resolve("encoder-base.onnx");
    Zoo.write("encoder-base", ZooOptions.defaults().withDynamic(true), file);
  }

  /** The time of a run on one device, in seconds. */
  double single(int tokens) {
    return report(Split.none(tokens), USUAL_MEGABITS).seconds();
  }

  /** The program of one device. */
  Program program(int tokens) {
    return programs.computeIfAbsent(Split.none(tokens), this::planned);
  }

  /** The programs of several devices. */
  Program program(LatencyMethod method, int devices, int tokens) {
    return programs.computeIfAbsent(Split.of(method, devices, tokens), this::planned);
  }

  /** The time of a run in seconds, in which tensor parallelism sends as much as in the paper. */
  double seconds(LatencyMethod method, int devices, int tokens, int megabits) {
    int factor = method == LatencyMethod.TENSOR ? TENSOR_BANDWIDTH : 1;
    return report(method, devices, tokens, factor * megabits).seconds();
  }

  /** The prediction of a run. */
  PlanReport report(LatencyMethod method, int devices, int tokens, int megabits) {
    return report(Split.of(method, devices, tokens), megabits);
  }

  private PlanReport report(Split split, int megabits) {
    Program program = programs.computeIfAbsent(split, this::planned);
    return Plans.report(program, target(split, megabits), PlanOptions.DEFAULT);
  }

  /** Messages have no latency, so that the best algorithms don't depend on the bandwidth. */
  private Program planned(Split split) {
    SyncRewrites syncs =
        split.groups() == 0
            ? SyncRewrites.NONE
            : rewrites.computeIfAbsent(split.groups(), this::vectors);
    return new ProgramPlanner(
            modules.computeIfAbsent(split.tokens(), this::module),
            target(split, USUAL_MEGABITS),
            PlanOptions.DEFAULT,
            Goal.LATENCY,
            syncs)
        .plan(split.strategy())
        .program();
  }

  private static TargetDescription target(Split split, int megabits) {
    return target(LAPTOPS, split.strategy().devices(), megabits);
  }

  /** Laptops, without latency of messages. */
  static TargetDescription target(String laptops, int devices, int megabits) {
    return TargetLibrary.find(
        "%s:laptops=%d,latency=0ms,bandwidth=%dMbps".formatted(laptops, devices, megabits));
  }

  private Module module(int tokens) {
    return new Compilation(note -> {}, step -> {})
        .prepare(new Compilation.Request(file, Map.of("seq", (long) tokens), Map.of(), null));
  }

  /** Codebooks of random numbers, which don't change the time. */
  private SyncRewrites vectors(int groups) {
    Module sharded =
        Sharding.of(Strategy.sequence(2)).run(modules.computeIfAbsent(NARROW, this::module));
    List<Codebook> books = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(groups);
    for (TokenSync sync : TokenStatistics.of(sharded).syncs()) {
      int features = sync.features();
      float[] centroids = new float[SIZE * features];
      for (int i = 0; i < centroids.length; i++) {
        centroids[i] = 2 * random.nextFloat() - 1;
      }
      books.add(
          new Codebook(
              sync.node().name(), sync.weights(), features, groups, SIZE, centroids, UNKNOWN));
    }
    return new SyncRewrites(
        SyncRules.parse("vq(k=" + SIZE + ",groups=" + groups + ")", Optional.empty()),
        Optional.of(new SyncCalibration("random codebooks", "", List.of(), books)),
        Optional.empty());
  }
}
