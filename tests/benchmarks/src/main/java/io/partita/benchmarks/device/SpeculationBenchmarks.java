package io.partita.benchmarks.device;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.ir.graph.Module;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A token of a decoder at the end of its context: by the exact program, and by two groups of chips
 * of which one runs ahead on an approximate attention, with hits only and with misses only.
 */
final class SpeculationBenchmarks {
  private static final List<Integer> CONTEXTS = List.of(64, 128, 256);
  private static final int CHUNK = 16;

  /** Accepts every approximation. */
  private static final double ALWAYS = 1000;

  private final Simulation simulation;
  private final Path model;

  /**
   * @param model a folder with {@code decode/network.onnx}
   */
  SpeculationBenchmarks(Simulation simulation, Path model) {
    this.simulation = simulation;
    this.model = model;
  }

  /** The cycles of the slowest chip. */
  private record Cycles(long measured, double predicted) {
    String cells() {
      return String.format(Locale.ROOT, "%,d | %,.0f", measured, predicted);
    }
  }

  void run(PrintStream out) throws IOException {
    out.println(
        "| context | chips | exact on half of them | predicted | exact on all | predicted | hits"
            + " | predicted | misses | predicted | hits, of exact on half |");
    out.println("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int context : CONTEXTS) {
      Module decoder = decoder(context);
      for (int chips : List.of(2, 4)) {
        Cycles half = cycles("exact-" + context, exact(decoder, chips / 2), context, false);
        Cycles all = cycles("exact-" + context, exact(decoder, chips), context, false);
        Cycles hits =
            cycles(
                "hits-" + context, groups(decoder, chips, ALWAYS, Guess.COMPUTED), context, true);
        Cycles misses =
            cycles("misses-" + context, groups(decoder, chips, 0, Guess.COMPUTED), context, false);
        out.printf(
            Locale.ROOT,
            "| %d | %d | %s | %s | %s | %s | %.2f |%n",
            context,
            chips,
            half.cells(),
            all.cells(),
            hits.cells(),
            misses.cells(),
            (double) hits.measured / half.measured);
        out.flush();
      }
    }
  }

  /** The same with an approximation that one group sends to the other. */
  void runSent(PrintStream out) throws IOException {
    out.println("| context | chips | hits, sent | predicted | misses, sent | predicted |");
    out.println("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int context : CONTEXTS) {
      Module decoder = decoder(context);
      for (int chips : List.of(2, 4)) {
        Module hitting = groups(decoder, chips, ALWAYS, Guess.SENT);
        Module missing = groups(decoder, chips, 0, Guess.SENT);
        Cycles hits = cycles("sent-hits-" + context, hitting, context, true);
        Cycles misses = cycles("sent-misses-" + context, missing, context, false);
        out.printf(
            Locale.ROOT, "| %d | %d | %s | %s |%n", context, chips, hits.cells(), misses.cells());
        out.flush();
      }
    }
  }

  private Module decoder(long context) {
    return new Compilation(note -> {}, step -> {})
        .prepare(
            new Compilation.Request(
                model.resolve("decode/network.onnx"), Map.of("past", context), Map.of(), null));
  }

  private static Module exact(Module decoder, int chips) {
    return chips == 1 ? decoder : new ShardPass(Strategy.tensor(chips)).run(decoder);
  }

  private static Module groups(Module decoder, int chips, double lambda, Guess guess) {
    return new SpeculateGroups(new Speculation(lambda, CHUNK, guess))
        .run(exact(decoder, chips / 2));
  }

  /**
   * @param hits whether the program accepts every approximation, for the prediction
   */
  private Cycles cycles(String name, Module module, long context, boolean hits) throws IOException {
    int chips = module.placement().map(placement -> placement.mesh().devices()).orElse(1);
    List<String> states = module.states().stream().map(Module.State::input).toList();
    List<Tensor> inputs =
        module.graph().inputs().stream()
            .filter(input -> !states.contains(input.name()))
            .map(input -> value(input.type(), context - 1))
            .toList();
    TargetDescription target = TargetLibrary.find("siracusa:chips=" + chips);
    Schedule schedule =
        Scheduler.schedule(Distribution.program(module), target, SchedulerOptions.STANDARD);
    SchedulePrediction predicted =
        hits
            ? SchedulePrediction.ofHits(schedule, target).orElseThrow()
            : SchedulePrediction.of(schedule, target);
    return new Cycles(
        simulation.run("speculation/" + name + "-" + chips, schedule, inputs).cycles(),
        predicted.devices().stream().mapToDouble(DevicePrediction::cycles).max().orElseThrow());
  }

  /** A vector of one element is the position of the token. */
  private static Tensor value(TensorType type, long position) {
    boolean isPosition = type.element() == ElementType.I64 && type.rank() == 1;
    return Tensor.filled(type, isPosition ? position : 1);
  }
}
