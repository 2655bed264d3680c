package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.StateLines;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Tests caches that don't fit L2 together. */
class StatesInL3Test {
  private static final int CACHES = 8;
  private static final ScheduleStep NOTHING = new ScheduleStep.Clear(0, 0, Origin.NONE);
  private static final long BYTES = 8 * 1024 * Float.BYTES;
  private static final Schedule SCHEDULE =
      Scheduler.schedule(
          SmallPrograms.caches(CACHES, 1024), SmallPrograms.withL2(128), SchedulerOptions.STANDARD);
  private static final ChipSchedule CHIP = SCHEDULE.roles().getFirst();

  private static List<StartTransfer> transfers(Predicate<StartTransfer> which) {
    return CHIP.steps().stream()
        .filter(StartTransfer.class::isInstance)
        .map(StartTransfer.class::cast)
        .filter(which)
        .toList();
  }

  private static List<Port> far() {
    return CHIP.states().stream().filter(state -> !state.at().isHome()).toList();
  }

  /** Returns caches that don't fit beside other values. */
  @Test
  void statesArePrefetchedAndWrittenBack() {
    assertThat(CHIP.states()).hasSize(CACHES);
    assertThat(far()).hasSizeBetween(CACHES / 2, CACHES);
    assertThat(CHIP.start()).hasSize(CACHES - far().size());
    for (Port state : far()) {
      List<StartTransfer> own = transfers(start -> start.far().equals(state.at()));
      assertThat(own).extracting(StartTransfer::fetch).containsExactly(true, false);
      assertThat(own).extracting(StartTransfer::bytes).containsExactly(BYTES, BYTES / 8);
      assertThat(own.getFirst().home()).isEqualTo(own.getLast().home());
    }
    assertThat(CHIP.home().used()).isLessThanOrEqualTo(128 * 1024);
    assertThat(CHIP.farther().getFirst().used()).isEqualTo(far().size() * BYTES);
    String first = far().getFirst().name();
    assertThat(CHIP.steps().subList(0, indexOf(first.replace("past", "sum"))))
        .anyMatch(step -> step instanceof StartTransfer start && !start.fetch());
    assertThat(indexOf(first)).isLessThan(indexOf("update 0"));
  }

  private static int indexOf(String node) {
    return CHIP.steps().stream().map(step -> step.origin().name()).toList().indexOf(node);
  }

  @Test
  void theyStayInL2WhileThereIsRoom() {
    ChipSchedule roomy =
        SmallPrograms.schedule(SmallPrograms.caches(CACHES, 1024)).roles().getFirst();
    assertThat(roomy.states()).isNotEmpty().allMatch(state -> state.at().isHome());
    assertThat(roomy.steps()).noneMatch(StartTransfer.class::isInstance);
  }

  @Test
  void wrongLinesAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start && !start.fetch()) {
        StateLines own = start.lines().orElseThrow();
        for (StateLines wrong :
            List.of(
                new StateLines(own.position(), own.index(), 1, 4, 2, own.lineBytes(), false),
                new StateLines(own.position(), own.index(), 1, 8, 1, own.lineBytes(), true),
                new StateLines(own.position() + 8, own.index(), 1, 8, 1, own.lineBytes(), false),
                new StateLines(own.position(), own.index(), 1, 16, 1, 2048, false))) {
          List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
          steps.set(
              i,
              StartTransfer.spill(
                  start.transfer(), start.far(), start.home(), wrong, start.origin()));
          isRejected(steps, "error P44", "other lines at step " + i);
        }
      }
    }
  }

  /** A byte that changed outside of the lines, or a position that did. */
  @Test
  void otherChangesAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start && !start.fetch()) {
        long position = start.lines().orElseThrow().position();
        for (long changed : List.of(start.home() + BYTES - 1, position)) {
          int update = indexOf("update " + start.origin().name().substring("past ".length()));
          List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
          ScheduleStep wait = steps.get(waitAfter(steps, i, start.transfer()));
          assertThat(wait).isInstanceOf(WaitTransfer.class);
          steps.set(i, new ScheduleStep.Clear(changed, 1, start.origin()));
          steps.set(waitAfter(CHIP.steps(), i, start.transfer()), start);
          steps.add(waitAfter(CHIP.steps(), i, start.transfer()) + 1, wait);
          assertThat(update).isLessThan(i);
          isRejected(steps, "error P441", "a change before step " + i);
        }
      }
    }
  }

  private static void isRejected(List<ScheduleStep> steps, String message, String change) {
    Schedule changed = ChangedChips.with(SCHEDULE, ChangedChips.with(CHIP, steps));
    assertThatThrownBy(() -> ScheduleVerifier.verify(changed))
        .as(change)
        .hasMessageContaining(message);
  }

  @Test
  void missingWriteBacksAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start && !start.fetch()) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        steps.set(i, NOTHING);
        steps.set(waitAfter(steps, i, start.transfer()), NOTHING);
        isRejected(steps, "states where a run leaves them, in l3", "no spill at step " + i);
      }
    }
  }

  private static int waitAfter(List<ScheduleStep> steps, int from, int transfer) {
    int at = from;
    while (!(steps.get(at) instanceof WaitTransfer wait && wait.transfer() == transfer)) {
      at++;
    }
    return at;
  }

  @Test
  void movedSpillsAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start && !start.fetch()) {
        for (long shift : List.of(-8L, 8L)) {
          List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
          steps.set(
              i,
              StartTransfer.spill(
                  start.transfer(),
                  new Address(start.far().memory(), start.far().offset() + shift),
                  start.home(),
                  start.lines().orElseThrow(),
                  start.origin()));
          isRejected(steps, "error P441", "a spill elsewhere at step " + i);
        }
      }
    }
  }

  @Test
  void earlySpillsAreRefused() {
    for (int i = 1; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start && !start.fetch()) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        int update = indexOf("update " + start.origin().name().substring("past ".length()));
        Collections.swap(steps, update, i);
        isRejected(steps, "error P441", "a spill too early at step " + i);
      }
    }
  }
}
