package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * Tests that removing or moving an action in a stage is rejected, with and without double
 * buffering.
 */
class StagesVerifiedTest {
  /** The number of a product's right operand. */
  private static final int RIGHT = 1;

  private static List<Schedule> schedules() {
    return List.of(scheduled(true), scheduled(false));
  }

  private static Schedule scheduled(boolean doubleBuffer) {
    return Scheduler.schedule(
        SmallPrograms.layers(1, 128),
        SmallPrograms.withL2(400),
        new SchedulerOptions(OptionalLong.of(20_000), doubleBuffer, true));
  }

  private static Schedule with(Schedule schedule, int loop, List<Stage.Action> actions) {
    ChipSchedule chip = schedule.roles().getFirst();
    TiledKernel one = chip.kernels().get(loop);
    List<TiledKernel> kernels = new ArrayList<>(chip.kernels());
    kernels.set(
        loop,
        new TiledKernel(
            one.name(),
            one.axes(),
            one.operands(),
            one.scratch(),
            one.calls(),
            List.of(new Stage("control", actions)),
            one.workingBytes()));
    return ChangedChips.with(schedule, ChangedChips.withKernels(chip, kernels));
  }

  @Test
  void transfersAreDoubleBuffered() {
    List<Stage.Action> together = actions(scheduled(true));
    assertThat(together)
        .anyMatch(action -> action instanceof Stage.Call call && !call.meanwhile().isEmpty());
    List<Stage.Action> inTurn = actions(scheduled(false));
    assertThat(inTurn)
        .anyMatch(Stage.Call.class::isInstance)
        .allMatch(action -> !(action instanceof Stage.Call call) || call.meanwhile().isEmpty());
    assertThat(inTurn.getLast()).isInstanceOf(Stage.LoadNext.class);
  }

  /** A row by a matrix is multiplied faster than the matrix is loaded, several rows aren't. */
  @Test
  void loadsThatTakeLongerThanComputingAreQueued() {
    Stage ofRow = product(1);
    assertThat(ofRow.queues(RIGHT)).isTrue();
    assertThat(ofRow.actions())
        .noneMatch(action -> action instanceof Stage.Call call && !call.meanwhile().isEmpty());
    Stage ofRows = product(64);
    assertThat(ofRows.queues(RIGHT)).isFalse();
    assertThat(ofRows.actions())
        .anyMatch(action -> action instanceof Stage.Call call && !call.meanwhile().isEmpty());
  }

  private static Stage product(long rows) {
    Schedule schedule =
        SmallPrograms.schedule(
            SmallPrograms.of(
                graph -> {
                  Value left = graph.input("x", TensorType.of(ElementType.I8, rows, 512));
                  Value right =
                      graph.constant(Tensor.filled(TensorType.of(ElementType.I8, 512, 1024), 1));
                  graph.output(
                      "y", graph.add(new Contraction.MatMul(ElementType.I32), left, right));
                }));
    return schedule.roles().getFirst().kernels().getFirst().stages().getFirst();
  }

  private static List<Stage.Action> actions(Schedule schedule) {
    return schedule.roles().getFirst().kernels().getFirst().stages().getFirst().actions();
  }

  @Test
  void missingActionsAreRefused() {
    for (Schedule schedule : schedules()) {
      List<Stage.Action> actions = actions(schedule);
      assertThatCode(() -> ScheduleVerifier.verify(with(schedule, 0, actions)))
          .doesNotThrowAnyException();
      for (int i = 0; i < actions.size(); i++) {
        List<Stage.Action> fewer = new ArrayList<>(actions);
        Stage.Action left = fewer.remove(i);
        isRejected(with(schedule, 0, fewer), left);
      }
    }
  }

  @Test
  void kernelsRunOnceBetweenLoadsAndStores() {
    for (Schedule schedule : schedules()) {
      List<Stage.Action> actions = actions(schedule);
      for (int i = 0; i < actions.size(); i++) {
        if (actions.get(i) instanceof Stage.Call call) {
          List<Stage.Action> first = new ArrayList<>(actions);
          Collections.rotate(first.subList(0, i + 1), 1);
          isRejected(with(schedule, 0, first), call);
          List<Stage.Action> last = new ArrayList<>(actions);
          Collections.rotate(last.subList(i, last.size()), -1);
          isRejected(with(schedule, 0, last), call);
          List<Stage.Action> twice = new ArrayList<>(actions);
          twice.add(i, call);
          isRejected(with(schedule, 0, twice), call);
        }
      }
    }
  }

  private static void isRejected(Schedule schedule, Stage.Action changed) {
    assertThatThrownBy(() -> ScheduleVerifier.verify(schedule))
        .as(changed.toString())
        .hasMessageContaining("error P4411");
  }
}
