package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.partita.backend.emitted.measure.MeasuredChip;
import io.partita.backend.emitted.measure.MeasuredRun;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.Distribution;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.chip.ScheduleSwitch;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Transfers overlap with computation on a simulated chip, by the simulator's cycles, the busy times
 * of its L3, and the slowdown of a program without overlap.
 */
@Timeout(1200)
class SimulatedOverlapTest {
  private static final int LAYERS = 5;
  private static final int WIDTH = 192;
  private static final long WEIGHT_BYTES = 4L * WIDTH * WIDTH;

  /** The tolerance in percent, for cycles in which cores wait for transfers. */
  private static final double TOLERANCE = 10;

  private final SplittableRandom random = new SplittableRandom(7);

  @TempDir private Path folder;

  @BeforeAll
  static void requireGvsoc() {
    EmittedC.requireGvsoc();
  }

  /**
   * The figures of a run.
   *
   * @param outputs the outputs of the model
   */
  private record Ran(MeasuredChip measured, Chip predicted, List<Tensor> outputs) {
    long cycles() {
      return StepFigures.cycles(measured.steps());
    }

    long waitCycles() {
      return MeasuredChip.waitCycles(predicted, measured.steps());
    }

    double hidden() {
      return (double) measured.hiddenL3Cycles(predicted) / measured.l3Cycles();
    }
  }

  /** Five weights share the memory of three, and computing takes longer than fetching. */
  @Test
  void computationOverlapsFetchesFromL3() throws IOException {
    GraphBuilder graph = new GraphBuilder("layers");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 16, WIDTH));
    for (int i = 0; i < LAYERS; i++) {
      x = linear(graph, x, WIDTH, WIDTH);
    }
    graph.output("y", x);
    Module module = new Module(graph.finish());
    Tensor input = floats(16, WIDTH);
    Quantity room = new Quantity(128 + 3 * WEIGHT_BYTES / 1024 + 40, Unit.KIB);
    ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of("l2", room));
    Ran ahead = run(module, input, target, "ahead");
    Ran inTurn = run(module, input, target.with(Map.of(ScheduleSwitch.PREFETCH, false)), "in-turn");

    assertThat(inTurn.outputs).isEqualTo(ahead.outputs);
    for (Ran each : List.of(ahead, inTurn)) {
      assertThat(StepFigures.moved(each.measured.steps()))
          .isEqualTo(StepFigures.moved(each.predicted.figures()));
      assertThat(StepFigures.moved(each.measured.steps()).farHome())
          .isGreaterThan(2 * WEIGHT_BYTES);
    }
    verifySlower(ahead, inTurn);
    assertThat(ahead.waitCycles()).isLessThan(inTurn.waitCycles() / 3);
    assertThat(ahead.hidden()).isGreaterThan(0.7);
    assertThat(inTurn.waitCycles()).isGreaterThan(inTurn.measured.l3Cycles() * 9 / 10);
    assertThat(inTurn.hidden()).isLessThan(0.1);
  }

  /** A matrix-vector product takes about as long as the transfer of its weights from L2. */
  @Test
  void computationOverlapsLoadsFromL2() throws IOException {
    GraphBuilder graph = new GraphBuilder("vector");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 512));
    graph.output("y", linear(graph, x, 512, 480));
    Module module = new Module(graph.finish());
    Tensor input = floats(1, 512);
    ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of());
    Ran twoSlots = run(module, input, target, "two-slots");
    // Parts of weights that are copied ahead of their loops overlap with one slot, too.
    Map<ScheduleSwitch, Boolean> inTurn =
        Map.of(ScheduleSwitch.DOUBLE_BUFFER, false, ScheduleSwitch.PREFETCH, false);
    Ran oneSlot = run(module, input, target.with(inTurn), "one-slot");
    verifySlower(twoSlots, oneSlot);
  }

  /** Slower by at least an eighth, and the cores' waiting time increases as predicted. */
  private static void verifySlower(Ran fast, Ran slow) {
    assertThat(slow.cycles()).isGreaterThan(fast.cycles() * 9 / 8);
    long waits = idle(slow.measured.steps()) - idle(fast.measured.steps());
    long predicted = idle(slow.predicted.figures()) - idle(fast.predicted.figures());
    assertThat(waits).isCloseTo(predicted, withinPercentage(TOLERANCE));
  }

  /** The cycles in which no kernel runs. */
  private static long idle(List<StepFigures> steps) {
    return StepFigures.cycles(steps) - StepFigures.computeCycles(steps);
  }

  private Value linear(GraphBuilder graph, Value x, long in, long out) {
    return graph
        .at("linear")
        .add(new Structured.Linear(false, false), x, graph.constant(floats(in, out)));
  }

  private Tensor floats(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-0.1, 0.1);
    }
    return Tensor.of(type, values);
  }

  /** Measures the second of two runs, since instruction caches are empty in the first. */
  private Ran run(Module module, Tensor input, ChipTarget target, String name) throws IOException {
    Path emitted = folder.resolve(name);
    OutputFolder.write(
        target.backend().emit(Distribution.program(module)).files(), emitted, path -> false);
    Build.run(emitted, Port.GVSOC, List.of("PROFILE=1"));
    Chip predicted = PredictedRun.read(emitted).chips().getFirst();
    BatchProgram.Result result =
        new BatchProgram(emitted, "build/profile", Port.GVSOC, Duration.ofMinutes(15))
            .run(
                List.of(List.of(input), List.of(input)),
                EmittedC.gvsocOptions(),
                List.of(predicted.steps().size()));
    MeasuredRun measured = MeasuredRun.of(result.reports(), result.profiles());
    return new Ran(measured.chips().getFirst(), predicted, result.outputs().getLast());
  }
}
