package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.RunningTeam;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RunningTeamTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");

  /** Products whose weights are preloaded, and whose results but the last are near. */
  private static final Schedule LAYERS =
      Scheduler.schedule(SmallPrograms.layers(6, 128), SIRACUSA, SchedulerOptions.STANDARD);

  private static final ChipSchedule CHIP = LAYERS.roles().getFirst();

  private static TiledKernel kernel(int step) {
    return CHIP.kernels().get(((RunTiles) CHIP.steps().get(step)).kernel());
  }

  private static List<Integer> left(ChipSchedule chip) {
    RunningTeam team = RunningTeam.of(chip);
    return IntStream.range(0, chip.steps().size()).filter(team::isLeft).boxed().toList();
  }

  /** The steps with others behind one of them. */
  private static ChipSchedule inserted(int behind, ScheduleStep... others) {
    List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
    steps.addAll(behind + 1, List.of(others));
    return ChangedChips.with(CHIP, steps);
  }

  @Test
  void loopsWithoutStoresAreLeftRunning() {
    assertThat(left(CHIP))
        .isNotEmpty()
        .allMatch(step -> kernel(step).tiles() == 1)
        .allMatch(
            step ->
                kernel(step).operands().stream()
                    .noneMatch(each -> each.isMoved() && each.direction() == Direction.STORE));
    assertThat(kernel(CHIP.steps().size() - 1).operands()).anyMatch(TileOperand::isMoved);
  }

  /** The next kernel awaits the one before, unless a step in between needs what that uses. */
  @Test
  void transfersIntoWhatTheKernelUsesAwaitIt() {
    int step = left(CHIP).getFirst();
    RunTiles run = (RunTiles) CHIP.steps().get(step);
    int near =
        IntStream.range(0, run.operands().size())
            .filter(each -> kernel(step).operands().get(each).isNear())
            .findFirst()
            .orElseThrow();
    long at = run.operands().get(near);
    Origin origin = Origin.named("weight");
    ScheduleStep await = new ScheduleStep.AwaitPreload(9, origin);
    ScheduleStep into = new ScheduleStep.Preload(9, 0, at, 4, origin);
    RunningTeam meets = RunningTeam.of(inserted(step, into, await));
    assertThat(meets.isAwaitedBefore(step + 1)).isFalse();
    assertThat(meets.isLeft(step)).as("nothing can be done beside it").isFalse();

    RunningTeam late = RunningTeam.of(inserted(step, await, into, await));
    assertThat(late.isLeft(step)).isTrue();
    assertThat(late.isAwaitedBefore(step + 1)).isFalse();
    assertThat(late.isAwaitedBefore(step + 2)).isTrue();
  }

  @Test
  void messagesAwaitTheKernel() {
    int step = left(CHIP).getFirst();
    Origin origin = Origin.named("sum");
    ScheduleStep await = new ScheduleStep.AwaitPreload(9, origin);
    ScheduleStep begin = new ScheduleStep.BeginExchange(origin);
    RunningTeam team = RunningTeam.of(inserted(step, await, begin));
    assertThat(team.isLeft(step)).isTrue();
    assertThat(team.isAwaitedBefore(step + 2)).isTrue();
    assertThat(RunningTeam.of(inserted(step, begin)).isLeft(step)).isFalse();
  }

  /** So the steps after it take no time of their own. */
  @Test
  void predictedStepsEndInOrder() {
    List<StepPrediction> steps =
        SchedulePrediction.of(LAYERS, SIRACUSA).devices().getFirst().steps();
    assertThat(steps).hasSameSizeAs(CHIP.steps()).allMatch(step -> step.cycles() >= 0);
    assertThat(steps.stream().mapToDouble(StepPrediction::cycles).sum())
        .isCloseTo(
            SchedulePrediction.of(LAYERS, SIRACUSA).devices().getFirst().cycles(), offset(1e-3));
  }
}
