package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.schedule.tile.LoopTime;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SchedulePredictionTest {
  private static final int LAYERS = 8;
  private static final long WEIGHTS = LAYERS * 128 * 128 * Float.BYTES;
  private static final Program PROGRAM = SmallPrograms.layers(LAYERS, 128);
  private static final TargetDescription TARGET = SmallPrograms.withL2(256);
  private static final ChipKind CHIP = TARGET.devices().getFirst();

  private static Schedule schedule(boolean prefetch) {
    SchedulerOptions options = new SchedulerOptions(OptionalLong.empty(), true, prefetch);
    return Scheduler.schedule(PROGRAM, TARGET, options);
  }

  private static DevicePrediction only(SchedulePrediction prediction) {
    assertThat(prediction.devices()).hasSize(1);
    return prediction.devices().getFirst();
  }

  /** Returns the time of sequential loops with cached instructions. */
  private static double loopCycles(ChipSchedule chip) {
    return chip.steps().stream()
        .filter(RunTiles.class::isInstance)
        .mapToDouble(
            step -> LoopTime.of(chip.kernels().get(((RunTiles) step).kernel()), CHIP).cycles())
        .sum();
  }

  private static Stream<StartTransfer> fetches(Schedule schedule) {
    return schedule.roles().getFirst().steps().stream()
        .filter(StartTransfer.class::isInstance)
        .map(StartTransfer.class::cast);
  }

  private static long fetched(Schedule schedule) {
    return fetches(schedule).mapToLong(StartTransfer::bytes).sum();
  }

  private static double fetchCycles(Schedule schedule) {
    DmaChannel channel = CHIP.channel("l3", "l2").orElseThrow();
    return fetches(schedule).mapToDouble(each -> channel.cycles(each.bytes(), 0)).sum();
  }

  @Test
  void stepsAreSequentialAndCountTheirBytes() {
    Schedule schedule = schedule(true);
    ChipSchedule chip = schedule.roles().getFirst();
    SchedulePrediction prediction = SchedulePrediction.of(schedule, TARGET);
    DevicePrediction device = only(prediction);
    assertThat(device.steps()).hasSameSizeAs(chip.steps());
    double at = 0;
    for (int i = 0; i < device.steps().size(); i++) {
      StepPrediction step = device.steps().get(i);
      assertThat(step.start()).isEqualTo(at);
      at += step.cycles();
      ScheduleStep what = chip.steps().get(i);
      boolean isMoved =
          what instanceof RunTiles run
              && chip.kernels().get(run.kernel()).operands().stream()
                  .anyMatch(TileOperand::isMoved);
      assertThat(step.traffic().homeWorking() > 0).isEqualTo(isMoved);
      assertThat(step.traffic().farHome() > 0)
          .isEqualTo(what instanceof ScheduleStep.StartTransfer);
    }
    assertThat(at).isCloseTo(device.cycles(), within(1e-3));
    assertThat(device.cycles()).isCloseTo(prediction.seconds() * CHIP.hertz(), within(1e-3));
    Traffic traffic = device.traffic();
    assertThat(traffic.farHome()).isEqualTo(fetched(schedule));
    assertThat(traffic.homeWorking()).isGreaterThan(WEIGHTS);
    assertThat(traffic.sent() + traffic.received()).isZero();
  }

  /** Tests that prefetching overlaps fetches and loops. */
  @Test
  void prefetchOverlapsLoopsAndFetches() {
    SchedulePrediction ahead = SchedulePrediction.of(schedule(true), TARGET);
    SchedulePrediction inTurn = SchedulePrediction.of(schedule(false), TARGET);
    double loops = loopCycles(schedule(false).roles().getFirst());
    double both = fetchCycles(schedule(false)) + loops;
    assertThat(only(inTurn).cycles()).isBetween(both, both * 1.1);
    assertThat(only(ahead).cycles())
        .isBetween(fetchCycles(schedule(true)), fetchCycles(schedule(true)) + loops * 0.1);
  }

  /** Tests that L2 may be smaller than L1. */
  @Test
  void tilesAreLoadedFromL2() {
    TargetDescription small = SmallPrograms.withL2(150);
    Schedule schedule = Scheduler.schedule(PROGRAM, small, SchedulerOptions.STANDARD);
    assertThat(only(SchedulePrediction.of(schedule, small)).traffic().homeWorking())
        .isGreaterThan(WEIGHTS);
  }

  @Test
  void energyFollowsThePapersFormula() {
    SchedulePrediction prediction = SchedulePrediction.of(schedule(true), TARGET);
    DevicePrediction device = only(prediction);
    double joules =
        fetched(schedule(true)) * 100e-12
            + device.traffic().homeWorking() * 2e-12
            + device.computeCycles() / 500e6 * 8 * 13e-3;
    assertThat(prediction.joules()).isCloseTo(joules, within(1e-12));
  }
}
