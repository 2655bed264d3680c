package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.only;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests which weights stay in L2, and when the others are fetched from L3. */
class WeightsInL3Test {
  @Test
  void rowsOfATableAreFetchedFromL3() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value ids = graph.input("ids", TensorType.of(ElementType.I64, 3));
              Value table = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 50, 8), 2));
              graph.output("y", graph.at("rows").add(new Structured.Embedding(), table, ids));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    StoredConstant table = chip.constants().getFirst();
    assertThat(chip.constants()).hasSize(1);
    assertThat(table.at().isHome()).isFalse();
    assertThat(chip.steps())
        .containsExactly(
            new ScheduleStep.FetchRows(
                0,
                table.at(),
                50,
                32,
                chip.inputs().getFirst().at().offset(),
                ElementType.I64,
                3,
                chip.outputs().getFirst().at().offset(),
                Origin.named("rows")),
            new ScheduleStep.AwaitRows(0, Origin.named("rows")));
  }

  @Test
  void rowsArriveWhileOtherStepsRun() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value ids = graph.input("ids", TensorType.of(ElementType.I64, 3));
              Value x = graph.input("in", TensorType.of(ElementType.F32, 3, 8));
              List<Value> rows =
                  Stream.of(2.0, 3.0)
                      .map(value -> Tensor.filled(TensorType.of(ElementType.F32, 50, 8), value))
                      .map(graph::constant)
                      .map(table -> graph.add(new Structured.Embedding(), table, ids))
                      .toList();
              Value y = graph.add(new Elementwise.Unary(UnaryFunction.EXP), x);
              graph.output("x", y);
              Value z = graph.add(new Elementwise.Binary(BinaryFunction.ADD), y, rows.get(0));
              graph.output(
                  "y", graph.add(new Elementwise.Binary(BinaryFunction.ADD), z, rows.get(1)));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(chip.steps())
        .extracting(ScheduleStep::getClass)
        .containsSubsequence(
            ScheduleStep.FetchRows.class,
            ScheduleStep.FetchRows.class,
            ScheduleStep.RunTiles.class,
            ScheduleStep.AwaitRows.class,
            ScheduleStep.AwaitRows.class);
  }

  @Test
  void weightsStayInL2WhileThereIsRoom() {
    Program layers = SmallPrograms.layers(8, 128);
    ChipSchedule chip = only(SmallPrograms.schedule(layers));
    assertThat(chip.steps())
        .noneMatch(step -> step instanceof StartTransfer || step instanceof WaitTransfer);
    assertThat(chip.constants()).isNotEmpty().allMatch(constant -> constant.at().isHome());
    assertThat(chip.farther().getFirst().used()).isZero();
  }

  @Test
  void otherwiseSomeStayAndOthersArePrefetchedOnce() {
    Program layers = SmallPrograms.layers(8, 128);
    Schedule schedule =
        Scheduler.schedule(layers, SmallPrograms.withL2(256), SchedulerOptions.STANDARD);
    ChipSchedule chip = only(schedule);
    assertThat(staying(chip)).isGreaterThan(64 * 1024);
    assertThat(fetched(chip) + staying(chip)).isEqualTo(8 * 128 * 128 * Float.BYTES);
    assertThat(fetched(chip)).isEqualTo(chip.farther().getFirst().used());
    assertThat(chip.home().used()).isLessThanOrEqualTo(256 * 1024);
    assertThat(loopsUnderWay(chip)).isGreaterThan(8);
  }

  private static long staying(ChipSchedule chip) {
    return chip.constants().stream()
        .filter(constant -> constant.at().isHome())
        .mapToLong(StoredConstant::bytes)
        .sum();
  }

  /** Tests that weights with room are fetched before the run, and the others during it. */
  @Test
  void theFirstWeightsAreFetchedByTheRunBefore() {
    Program layers = SmallPrograms.layers(8, 128);
    ChipSchedule chip =
        only(Scheduler.schedule(layers, SmallPrograms.withL2(320), SchedulerOptions.STANDARD));
    assertThat(chip.start()).isNotEmpty().hasOnlyElementsOfType(StartTransfer.class);
    List<ScheduleStep> ends =
        chip.steps().stream().filter(step -> chip.start().contains(step)).toList();
    assertThat(ends).isEqualTo(chip.start());
    List<ScheduleStep> beforeLastLoop = new ArrayList<>(chip.steps());
    while (!(beforeLastLoop.removeLast() instanceof ScheduleStep.RunTiles)) {
      assertThat(beforeLastLoop).isNotEmpty();
    }
    assertThat(beforeLastLoop).contains(chip.start().getFirst());
    assertThat(chip.steps().getFirst())
        .isEqualTo(
            new WaitTransfer(
                ((StartTransfer) chip.start().getFirst()).transfer(),
                chip.start().getFirst().origin()));
  }

  @Test
  void withoutPrefetchTransfersAreNotOverlapped() {
    Program layers = SmallPrograms.layers(8, 128);
    SchedulerOptions options = new SchedulerOptions(OptionalLong.empty(), true, false);
    ChipSchedule chip = only(Scheduler.schedule(layers, SmallPrograms.withL2(256), options));
    assertThat(fetched(chip) + staying(chip)).isEqualTo(8 * 128 * 128 * Float.BYTES);
    assertThat(loopsUnderWay(chip)).isZero();
  }

  /** The fastest placement keeps a large ring, through which more weights pass. */
  @Test
  void leastTrafficLoadsOnlyWhatHasNoRoom() {
    Program layers = SmallPrograms.layers(16, 128);
    TargetDescription target = SmallPrograms.withL2(640);
    SchedulerOptions least = SchedulerOptions.STANDARD.withLeastTraffic(true);
    ChipSchedule chip = only(Scheduler.schedule(layers, target, least));
    long weights = 16 * 128 * 128 * Float.BYTES;
    long room = chip.home().available();
    assertThat(fetched(chip) + staying(chip)).isEqualTo(weights);
    assertThat(fetched(chip))
        .isLessThan(fetched(only(Scheduler.schedule(layers, target, SchedulerOptions.STANDARD))))
        .isBetween(weights - room, weights - room * 3 / 4);
  }

  /** Tests a matrix of 256 KiB in less than half of that memory. */
  @Test
  void largeMatricesAreFetchedByColumns() {
    Program layers = SmallPrograms.layers(1, 256);
    ChipSchedule chip =
        only(Scheduler.schedule(layers, SmallPrograms.withL2(100), SchedulerOptions.STANDARD));
    assertThat(fetched(chip) + staying(chip)).isEqualTo(256 * 256 * Float.BYTES);
    assertThat(chip.steps().stream().filter(step -> step.origin().name().equals("linear 1")))
        .filteredOn(step -> step instanceof RunTiles)
        .hasSizeGreaterThan(3);
    assertThat(loopsUnderWay(chip)).isGreaterThan(1);
  }

  private static long fetched(ChipSchedule chip) {
    return chip.steps().stream()
        .mapToLong(step -> step instanceof StartTransfer start ? start.bytes() : 0)
        .sum();
  }

  private static int loopsUnderWay(ChipSchedule chip) {
    int underWay = chip.start().size();
    int loops = 0;
    for (ScheduleStep step : chip.steps()) {
      switch (step) {
        case StartTransfer start -> underWay++;
        case WaitTransfer wait -> underWay--;
        case RunTiles run -> loops += underWay > 0 ? 1 : 0;
        case ScheduleStep other -> {}
      }
    }
    return loops;
  }
}
