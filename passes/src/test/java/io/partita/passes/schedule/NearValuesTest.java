package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NearValuesTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");
  private static final TensorType ROW = TensorType.of(ElementType.F32, 512);
  private static final Program LAYERS = SmallPrograms.layers(6, 128);

  private static final Schedule NEAR = schedule(true);
  private static final Schedule APART = schedule(false);

  /** Without preloads, which are near as well. */
  private static Schedule schedule(boolean nearValues) {
    return Scheduler.schedule(
        LAYERS,
        SIRACUSA,
        new SchedulerOptions(
            OptionalLong.empty(), true, false, nearValues, true, false, Packing.PLAIN));
  }

  private static Stream<TileOperand> near(Schedule schedule) {
    ChipSchedule chip = schedule.roles().getFirst();
    return chip.steps().stream()
        .filter(RunTiles.class::isInstance)
        .map(step -> chip.kernels().get(((RunTiles) step).kernel()))
        .flatMap(kernel -> kernel.operands().stream())
        .filter(TileOperand::isNear);
  }

  private static double cycles(Schedule schedule) {
    return SchedulePrediction.of(schedule, SIRACUSA).devices().getFirst().cycles();
  }

  @Test
  void resultsThatOnlyLoopsReadAreKept() {
    assertThat(near(APART)).isEmpty();
    // Each layer's result is written once and read once, except the output.
    assertThat(near(NEAR)).hasSizeGreaterThanOrEqualTo(2 * 5);
    assertThat(cycles(NEAR)).isLessThan(cycles(APART));
  }

  @Test
  void resultsAreTheSame() {
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, 1, 128), 0.001));
    assertThat(new ScheduleEvaluator(NEAR).run(inputs).toString())
        .isEqualTo(new ScheduleEvaluator(APART).run(inputs).toString());
  }

  @Test
  void valuesAreBehindTheTilesOfAllLoops() {
    ChipSchedule chip = NEAR.roles().getFirst();
    long tiles = chip.kernels().stream().mapToLong(TiledKernel::workingBytes).max().orElseThrow();
    assertThat(chip.residences())
        .filteredOn(each -> each.at().memory() == ChipSchedule.WORKING)
        .isNotEmpty()
        .allMatch(each -> each.offset() >= tiles)
        .allMatch(each -> each.offset() + each.bytes() <= chip.working().available());
  }

  /** One loop reads them all, so their sizes and first uses give no order. */
  @Test
  void constantsOfTheSameLoopHaveTheSamePlacesInEachSchedule() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value sums = graph.input("x", TensorType.of(ElementType.F32, 16));
              for (int i = 0; i < 8; i++) {
                Value addend = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 16), i));
                Elementwise.Binary plus = new Elementwise.Binary(BinaryFunction.ADD);
                sums = graph.at("plus" + i).add(plus, sums, addend);
              }
              graph.output("y", sums);
            });
    List<List<ChipSchedule.StoredConstant>> constants =
        Stream.generate(() -> Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD))
            .limit(4)
            .map(schedule -> schedule.roles().getFirst().constants())
            .toList();
    assertThat(constants.getFirst()).hasSizeGreaterThanOrEqualTo(8);
    assertThat(constants).containsOnly(constants.getFirst());
  }

  /** Also constants of single bytes, which are behind those of words. */
  @Test
  void constantsArriveByOneTransferThatStartsAtOnce() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F32, 16));
              Value scale = graph.constant(Tensor.filled(TensorType.of(ElementType.F32), 0.5));
              Value zero = graph.constant(Tensor.filled(TensorType.of(ElementType.I8), 3));
              Quantized.Quantize op = new Quantized.Quantize(0, 0, ElementType.I8);
              graph.output("y", graph.at("y").add(op, x, scale, zero));
            });
    Schedule schedule = Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD);
    ChipSchedule chip = schedule.roles().getFirst();
    assertThat(chip.steps())
        .hasExactlyElementsOfTypes(
            ScheduleStep.Preload.class, ScheduleStep.AwaitPreload.class, RunTiles.class);
    assertThat(((ScheduleStep.Preload) chip.steps().getFirst()).bytes()).isEqualTo(5);
    assertThat(chip.isStartedByNext(0)).isFalse();
    assertThat(near(schedule)).hasSize(2);
    ScheduleVerifier.verify(schedule);
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, 16), 1.25));
    assertThat(new ScheduleEvaluator(schedule).run(inputs).get("y").getDouble(7)).isEqualTo(5);
  }

  /**
   * Constants of single words come first; elements of eight bytes need aligned places behind them.
   */
  @Test
  void valuesBehindConstantsAreAligned() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 16));
              Value sums = x;
              for (int i = 0; i < 3; i++) {
                Value scale =
                    graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 1), 2 + i));
                Elementwise.Binary times = new Elementwise.Binary(BinaryFunction.MUL);
                sums = graph.at("scale" + i).add(times, sums, scale);
                sums = graph.at("tanh" + i).add(new Elementwise.Unary(UnaryFunction.TANH), sums);
              }
              // Nothing may overwrite x before.
              Elementwise.Binary plus = new Elementwise.Binary(BinaryFunction.ADD);
              Value all = graph.at("plus").add(plus, sums, x);
              Value weight =
                  graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 16, 8), 1));
              graph.output(
                  "y", graph.at("y").add(new Structured.Linear(false, false), all, weight));
            });
    ChipSchedule chip =
        Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD).roles().getFirst();
    assertThat(chip.residences())
        .filteredOn(each -> each.at().memory() == ChipSchedule.WORKING)
        .filteredOn(each -> each.bytes() == 16 * Float.BYTES)
        .isNotEmpty()
        .allMatch(each -> each.offset() % 16 == 0);
  }

  /**
   * A near operand elsewhere is in tiles, in another value, or in bytes that nothing has written.
   */
  @Test
  void valuesAtOtherPlacesAreRefused() {
    ChipSchedule chip = NEAR.roles().getFirst();
    int tried = 0;
    for (int step = 0; step < chip.steps().size(); step++) {
      if (!(chip.steps().get(step) instanceof RunTiles run)) {
        continue;
      }
      TiledKernel kernel = chip.kernels().get(run.kernel());
      for (int operand = 0; operand < run.operands().size(); operand++) {
        if (!kernel.operands().get(operand).isNear()) {
          continue;
        }
        for (long place : List.of(0L, run.operands().get(operand) + 16)) {
          List<Long> places = new ArrayList<>(run.operands());
          places.set(operand, place);
          List<ScheduleStep> steps = new ArrayList<>(chip.steps());
          steps.set(step, new RunTiles(run.kernel(), places, run.origin(), run.text()));
          Schedule changed = with(chip, steps);
          assertThatThrownBy(() -> ScheduleVerifier.verify(changed))
              .as("step %d, operand %d at %d", step, operand, place)
              .hasMessageContaining("error P4412");
          tried++;
        }
      }
    }
    assertThat(tried).isPositive();
  }

  private static Schedule with(ChipSchedule chip, List<ScheduleStep> steps) {
    return ChangedChips.with(NEAR, ChangedChips.with(chip, steps));
  }

  /** Returns layers of a loop that reads a row of constants and one that reads none. */
  private static Program rows(int layers, boolean endsWithConstant) {
    Elementwise.Binary add = new Elementwise.Binary(BinaryFunction.ADD);
    Reduction.Softmax softmax = new Reduction.Softmax(0, false);
    return SmallPrograms.of(
        graph -> {
          Value x = graph.input("x", ROW);
          for (int i = 0; i < layers; i++) {
            Value addend = graph.constant(Tensor.filled(ROW, i + 1));
            x =
                endsWithConstant
                    ? graph.add(add, graph.add(softmax, x), addend)
                    : graph.add(softmax, graph.add(add, x, addend));
          }
          graph.output("y", x);
        });
  }

  /** Such as the weights of norms and the factors of columns; together, they may be large. */
  @Test
  void rowsOfConstantsArriveTogether() {
    Schedule schedule = Scheduler.schedule(rows(6, false), SIRACUSA, SchedulerOptions.STANDARD);
    ChipSchedule chip = schedule.roles().getFirst();
    assertThat(chip.steps())
        .filteredOn(ScheduleStep.Preload.class::isInstance)
        .extracting(step -> ((ScheduleStep.Preload) step).bytes())
        .containsExactly(6 * ROW.bytes());
    // A loop that uses none of them starts their transfer for the next run.
    assertThat(chip.start()).hasSize(1);
    assertThat(chip.steps().get(chip.steps().size() - 2)).isEqualTo(chip.start().getFirst());
    ScheduleVerifier.verify(schedule);
  }

  /** The last loop reads its own constant while those of the next run arrive. */
  @Test
  void constantsOfTheLastLoopAreApart() {
    Schedule schedule = Scheduler.schedule(rows(3, true), SIRACUSA, SchedulerOptions.STANDARD);
    ChipSchedule chip = schedule.roles().getFirst();
    assertThat(chip.start())
        .extracting(step -> ((ScheduleStep.Preload) step).bytes())
        .containsExactly(2 * ROW.bytes());
    assertThat(chip.steps()).contains(chip.start().getFirst());
    ScheduleVerifier.verify(schedule);
    Map<String, Tensor> inputs = Map.of("x", Tensor.filled(ROW, 0.5));
    ScheduleEvaluator twice = new ScheduleEvaluator(schedule);
    assertThat(twice.run(inputs).get("y").getDouble(7)).isEqualTo(3 + 1 / 512.0);
    assertThat(twice.run(inputs).get("y").getDouble(7)).isEqualTo(3 + 1 / 512.0);
  }

  @Test
  void whatIsComputedFromExchangesIsKept() {
    Module block = new Module(new DecoderBlocks().build(1), List.of(), Optional.empty());
    Module split = new ShardPass(Strategy.parse("tensor=2")).run(block);
    Program program = Localization.of(ChooseAlgorithms.byDeviceCount().run(split), 1);
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    ChipSchedule chip =
        Scheduler.schedule(program, target, SchedulerOptions.STANDARD).roles().getFirst();
    List<TiledKernel> after = new ArrayList<>();
    for (int i = 1; i < chip.steps().size(); i++) {
      if (chip.steps().get(i - 1) instanceof ScheduleStep.Exchange
          && chip.steps().get(i) instanceof RunTiles loop) {
        after.add(chip.kernels().get(loop.kernel()));
      }
    }
    assertThat(after).isNotEmpty();
    assertThat(after.getFirst().operands())
        .anyMatch(operand -> operand.isNear() && operand.direction() == Direction.STORE);
  }
}
