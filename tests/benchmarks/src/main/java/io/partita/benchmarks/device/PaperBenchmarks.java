package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.benchmarks.paper.BlockRun;
import io.partita.benchmarks.paper.ElementsRun;
import io.partita.benchmarks.paper.KernelRun;
import io.partita.benchmarks.paper.Measurements;
import io.partita.benchmarks.paper.Misfit;
import io.partita.benchmarks.paper.ModelRun;
import io.partita.benchmarks.paper.PaperPage;
import io.partita.benchmarks.paper.PeerRun;
import io.partita.benchmarks.paper.Run;
import io.partita.benchmarks.paper.Workload;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.Shape;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Measures everything that the page on the MCU paper states, and writes the page. */
final class PaperBenchmarks {
  private static final String FOLDER = "paper/";

  /** The tokens of the cache of whole decoders. */
  private static final int TOKENS = 128;

  private static final int NO_GROUP = 32;

  /**
   * A whole decoder.
   *
   * @param group with 4 bits, the rows of a group
   * @param leastTraffic whether few loads from L3 count more than time
   * @param reserved the KiB of L2 for code, tables and data
   * @param hasThreeTokens whether the time from the second token to the third is measured
   */
  private record Decoder(
      String model,
      int chips,
      int bits,
      int group,
      boolean leastTraffic,
      int reserved,
      boolean hasThreeTokens) {
    SchedulerOptions options() {
      return SchedulerOptions.STANDARD.withLeastTraffic(leastTraffic);
    }

    TargetDescription target() {
      return TargetLibrary.find("siracusa:chips=" + chips + ",reserved=" + reserved + "KiB");
    }
  }

  private static final List<Decoder> DECODERS =
      List.of(
          new Decoder("tinyllama-42m", 8, 8, NO_GROUP, false, ModelRun.RESERVED, true),
          new Decoder("tinyllama-42m-64h", 16, 8, NO_GROUP, true, ModelRun.RESERVED, false),
          new Decoder("tinyllama-42m-64h", 8, 4, 64, true, 84, false));

  private final Simulation simulation;
  private final Progress progress;
  private final List<BlockRun> blocks = new ArrayList<>();
  private final List<Misfit> misfits = new ArrayList<>();
  private final List<ModelRun> models = new ArrayList<>();

  PaperBenchmarks(Simulation simulation) {
    this.simulation = simulation;
    int runs = Stream.of(Workload.values()).mapToInt(each -> each.chips().size()).sum();
    progress = new Progress(runs + DECODERS.size());
  }

  /** A network that is ready to run. */
  private record Compiled(String strategy, Schedule schedule, PredictedRun predicted) {
    /** Compiles a module split over chips with the strategy that is predicted to be the fastest. */
    static Compiled of(
        Module module,
        TargetDescription target,
        List<String> strategies,
        SchedulerOptions options) {
      return strategies.stream()
          .limit(target.devices().size() == 1 ? 1 : strategies.size())
          .map(strategy -> of(module, target, strategy, options))
          .min(Comparator.comparingLong(Compiled::cycles))
          .orElseThrow();
    }

    private static Compiled of(
        Module module, TargetDescription target, String strategy, SchedulerOptions options) {
      Module distributed = NetworkBenchmarks.distributed(module, target.devices().size(), strategy);
      Program program = NetworkBenchmarks.program(distributed, target.devices().size());
      Schedule schedule = Scheduler.schedule(program, target, options);
      return new Compiled(
          strategy, schedule, PredictedRun.of(schedule, SchedulePrediction.of(schedule, target)));
    }

    long cycles() {
      return predicted.chips().stream()
          .mapToLong(chip -> StepFigures.cycles(chip.figures()))
          .max()
          .orElse(0);
    }
  }

  /**
   * @param suite Deeploy's test suite; networks are left out if it isn't there
   * @param docs the folder of the page
   */
  void run(Path suite, Path docs) throws IOException {
    List<KernelRun> kernels = kernels();
    List<ElementsRun> elements = elements();
    List<PeerRun> peers = new PeerBenchmarks(simulation).measured(suite);
    for (Decoder decoder : DECODERS) {
      decoder(decoder);
    }
    for (Workload workload : Workload.values()) {
      Module block = QuantizedZoo.block(workload.model(), workload.mode(), workload.tokens());
      for (int chips : workload.chips()) {
        block(workload, block, chips);
      }
    }
    PaperPage.write(new Measurements(kernels, elements, blocks, misfits, models, peers), docs);
    System.out.println("written: " + docs.resolve(PaperPage.NAME + ".md"));
  }

  private List<KernelRun> kernels() throws IOException {
    return runs(
        "kernels",
        PaperKernels.products(),
        PaperKernels.Product::body,
        (product, loop) ->
            new KernelRun(
                product.name(),
                product.rows(),
                product.inner(),
                product.columns(),
                loop.cycles(),
                loop.computeCycles()));
  }

  private List<ElementsRun> elements() throws IOException {
    return runs(
        "elements",
        PaperElements.functions(),
        UnaryOperator.identity(),
        (function, loop) -> {
          Shape shape = function.operands().getFirst().shape();
          long columns = shape.fromEnd(0).value();
          return new ElementsRun(
              function.name(),
              shape.elements() / columns,
              columns,
              loop.cycles(),
              loop.computeCycles());
        });
  }

  /**
   * Measures subjects in one program.
   *
   * @param body returns the case of a subject
   * @param run returns the run of a subject whose loop has these figures
   */
  private <T, R> List<R> runs(
      String name,
      List<T> subjects,
      Function<T, KernelCase> body,
      BiFunction<T, StepFigures, R> run)
      throws IOException {
    Map<String, StepFigures> loops = loops(name, subjects.stream().map(body).toList());
    return subjects.stream()
        .map(subject -> run.apply(subject, loops.get(body.apply(subject).name())))
        .toList();
  }

  /** Measures cases in one program; returns the loop of each, by name. */
  private Map<String, StepFigures> loops(String name, List<KernelCase> cases) throws IOException {
    KernelProgram program = new KernelProgram(cases);
    TargetDescription target = TargetLibrary.find("siracusa:chips=1");
    Schedule schedule = Scheduler.schedule(program.program(), target, SchedulerOptions.STANDARD);
    List<StepFigures> steps =
        simulation.steps(FOLDER + name, schedule, program.inputs()).chips().getFirst();
    ChipSchedule role = schedule.roles().getFirst();
    Map<String, StepFigures> loops = new HashMap<>();
    for (int i = 0; i < steps.size(); i++) {
      if (role.steps().get(i) instanceof ScheduleStep.RunTiles loop) {
        loops.put(loop.origin().name(), steps.get(i));
      }
    }
    return loops;
  }

  private void block(Workload workload, Module block, int chips) throws IOException {
    String name = workload.text() + "-" + chips;
    Compiled compiled;
    try {
      TargetDescription target = TargetLibrary.find("siracusa:chips=" + chips);
      compiled = Compiled.of(block, target, workload.strategies(chips), SchedulerOptions.STANDARD);
    } catch (PartitaException e) {
      misfits.add(new Misfit(workload, chips, reason(e, name)));
      return;
    }
    Run run = measured(name, compiled, block, workload.tokens()).run;
    blocks.add(new BlockRun(workload, compiled.strategy, run));
  }

  /** Says why something isn't run, without the list of the largest values. */
  private String reason(PartitaException e, String what) {
    Diagnostic first = e.diagnostics().getFirst();
    String found = first.found().split(";", 2)[0];
    progress.skip(what + " doesn't fit: " + found);
    return "L2 has room for " + first.expected() + ", and the block takes " + found;
  }

  private void decoder(Decoder decoder) throws IOException {
    String name = decoder.model + "-" + decoder.bits + "-" + decoder.chips;
    Module module = QuantizedZoo.decoder(decoder.model, TOKENS, decoder.bits, decoder.group);
    Compiled compiled;
    try {
      compiled = Compiled.of(module, decoder.target(), List.of("tensor"), decoder.options());
    } catch (PartitaException e) {
      reason(e, name);
      return;
    }
    Measured second = measured(name, compiled, module, TOKENS);
    long interval = 0;
    if (decoder.hasThreeTokens) {
      Simulation.MeasuredRuns third =
          simulation.runThrice(
              FOLDER + name + "-thrice",
              compiled.schedule,
              NetworkBenchmarks.inputs(module, TOKENS - 1L),
              second.limit);
      interval = third.since(second.simulated);
    }
    models.add(
        new ModelRun(
            decoder.model,
            decoder.chips,
            decoder.bits,
            decoder.leastTraffic,
            decoder.reserved,
            loads(compiled.schedule, true),
            loads(compiled.schedule, false),
            second.run,
            interval));
  }

  /** The bytes that all chips load ahead from L3, for blocks or for all else. */
  private static long loads(Schedule schedule, boolean isOfBlocks) {
    long bytes = 0;
    for (ChipSchedule role : schedule.roles()) {
      for (ScheduleStep step : role.steps()) {
        if (step instanceof ScheduleStep.StartTransfer start
            && start.fetch()
            && start.origin().block().isPresent() == isOfBlocks) {
          bytes += start.bytes() * role.devices().size();
        }
      }
    }
    return bytes;
  }

  /**
   * A measured run.
   *
   * @param limit the time that its simulation may take
   */
  private record Measured(Simulation.MeasuredRuns simulated, Run run, Duration limit) {}

  private Measured measured(String name, Compiled compiled, Module module, int tokens)
      throws IOException {
    int chips = compiled.predicted.chips().size();
    Duration estimate = progress.next(name, chips, compiled.cycles());
    Duration limit = Simulation.LIMIT.plus(estimate.multipliedBy(Progress.MARGIN));
    Simulation.MeasuredRuns measured =
        simulation.run(
            FOLDER + name, compiled.schedule, NetworkBenchmarks.inputs(module, tokens - 1L), limit);
    Run run = RunFigures.of(compiled.predicted, measured.chips());
    System.err.printf(Locale.ROOT, "  %,d cycles, predicted %,d%n", run.cycles(), run.predicted());
    return new Measured(measured, run, limit);
  }
}
