package io.partita.benchmarks;

import io.partita.backend.emitted.measure.MeasuredChip;
import io.partita.backend.emitted.measure.MeasuredRun;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.benchmarks.device.QuantizedZoo;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.chip.ScheduleSwitch;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.zoo.Mode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Measures the gain of overlapping transfers and computation: {@code OverlapBenchmarks GVSOC FOLDER
 * [TINYLLAMA.onnx]}, from the repository's root. Prints a table for docs/measurements.md.
 */
final class OverlapBenchmarks {
  private static final int TOKENS = 16;
  private static final String HEAD =
      """
      | program | transfers | measured, cycles | predicted | slower by | predicted | L3 is busy | hidden | waiting for L3 |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- |""";

  private final Path gvsoc;
  private final Path folder;

  private OverlapBenchmarks(Path gvsoc, Path folder) {
    this.gvsoc = gvsoc;
    this.folder = folder;
  }

  /** The cycles of a run. */
  private record Ran(MeasuredChip measured, Chip predicted) {
    long cycles() {
      return StepFigures.cycles(measured.steps());
    }

    long predictedCycles() {
      return StepFigures.cycles(predicted.figures());
    }
  }

  public static void main(String[] arguments) throws IOException {
    OverlapBenchmarks benchmarks =
        new OverlapBenchmarks(
            Path.of(arguments[0]).toAbsolutePath(), Path.of(arguments[1]).toAbsolutePath());
    System.out.println(HEAD);
    ChipTarget small = ChipTarget.of("siracusa:chips=1", Map.of("l2", new Quantity(300, Unit.KIB)));
    benchmarks.compare(
        "character Llama", llama(TOKENS), tokens(65, TOKENS), small, ScheduleSwitch.PREFETCH);
    ChipTarget one = ChipTarget.of("siracusa:chips=1", Map.of());
    benchmarks.compare(
        "product [1, 512] x [512, 480]",
        product(),
        floats(1, 512),
        one,
        ScheduleSwitch.DOUBLE_BUFFER);
    benchmarks.compare(
        "character Llama, one token", llama(1), tokens(65, 1), one, ScheduleSwitch.NEAR_VALUES);
    ChipTarget four = ChipTarget.of("siracusa:chips=4", Map.of());
    Module block = QuantizedZoo.block("mobilebert-block", Mode.PROMPT, 268);
    benchmarks.compare(
        "MobileBERT block on four chips",
        new ShardPass(Distribution.strategy(4, "tensor,norm=tokens").orElseThrow()).run(block),
        floats(1, 268, 512),
        four,
        ScheduleSwitch.OVERLAP);
    if (arguments.length > 2) {
      Module model =
          new Compilation(note -> {}, step -> {})
              .prepare(new Compilation.Request(Path.of(arguments[2]), Map.of(), Map.of(), null));
      Module sharded = new ShardPass(Distribution.strategy(8, null).orElseThrow()).run(model);
      ChipTarget eight = ChipTarget.of("siracusa:chips=8", Map.of());
      benchmarks.compare(
          "TinyLlama", sharded, tokens(32_000, TOKENS), eight, ScheduleSwitch.PREFETCH);
    }
  }

  private static Module llama(long tokens) throws IOException {
    return new Compilation(note -> {}, step -> {})
        .prepare(
            new Compilation.Request(
                Path.of("tests/models/tiny-shakespeare/prefill/network.onnx"),
                Map.of("seq", tokens),
                Map.of(),
                null));
  }

  private static Module product() {
    GraphBuilder graph = new GraphBuilder("product");
    graph.output(
        "y",
        graph
            .at("product")
            .add(
                new Structured.Linear(false, false),
                graph.input("x", TensorType.of(ElementType.F32, 1, 512)),
                graph.constant(floats(512, 480))));
    return new Module(graph.finish());
  }

  private static Tensor floats(long... extents) {
    SplittableRandom random = new SplittableRandom(7);
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-0.1, 0.1);
    }
    return Tensor.of(type, values);
  }

  private static Tensor tokens(long vocabulary, int count) {
    SplittableRandom random = new SplittableRandom(1);
    long[] tokens = random.longs(count, 0, vocabulary).toArray();
    return Tensor.ofLongs(TensorType.of(ElementType.I64, 1, count), tokens);
  }

  /** The cycles with and without a kind of overlap. */
  private void compare(
      String name, Module module, Tensor input, ChipTarget target, ScheduleSwitch what)
      throws IOException {
    Ran with = run(module, input, target);
    line(name, what.text() + "=on", with, with);
    line(name, what.text() + "=off", run(module, input, target.with(Map.of(what, false))), with);
  }

  /** Measures the second of two runs, because instruction caches are empty in the first. */
  private Ran run(Module module, Tensor input, ChipTarget target) throws IOException {
    Path emitted = folder.resolve("overlap");
    Program program = target.programs(new Entries(target.withSyncs(module)), false).step();
    OutputFolder.write(
        target.backend().emit(program, Optional.empty()).files(), emitted, path -> true);
    Build.run(emitted, Port.GVSOC, List.of("PROFILE=1"));
    PredictedRun predicted = PredictedRun.read(emitted);
    BatchProgram.Result result =
        new BatchProgram(emitted, "build/profile", Port.GVSOC, Duration.ofHours(2))
            .run(
                List.of(List.of(input), List.of(input)),
                List.of("--gvsoc", gvsoc.toString()),
                predicted.chips().stream().map(chip -> chip.steps().size()).toList());
    MeasuredChip slowest =
        MeasuredRun.of(result.reports(), result.profiles()).chips().stream()
            .max(Comparator.comparingLong(chip -> StepFigures.cycles(chip.steps())))
            .orElseThrow();
    return new Ran(slowest, predicted.chips().get(slowest.chip()));
  }

  private static void line(String name, String transfers, Ran ran, Ran with) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %s | %,d | %,d | %,d | %,d | %,d | %,d | %,d |%n",
        name,
        transfers,
        ran.cycles(),
        ran.predictedCycles(),
        ran.cycles() - with.cycles(),
        ran.predictedCycles() - with.predictedCycles(),
        ran.measured.l3Cycles(),
        ran.measured.hiddenL3Cycles(ran.predicted),
        MeasuredChip.waitCycles(ran.predicted, ran.measured.steps()));
  }
}
