package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests that each single change of a valid schedule is rejected. */
class ScheduleVerifierTest {
  private static final Schedule SCHEDULE =
      Scheduler.schedule(
          SmallPrograms.layers(6, 128), SmallPrograms.withL2(200), SchedulerOptions.STANDARD);

  private static final ChipSchedule CHIP = SCHEDULE.roles().getFirst();

  private static Schedule with(
      List<TiledKernel> kernels, List<ScheduleStep> steps, List<Residence> residences) {
    return ChangedChips.with(
        SCHEDULE, ChangedChips.with(CHIP, kernels, steps, residences, CHIP.meaning()));
  }

  private static void rejected(Schedule schedule, String code, String change) {
    assertThatThrownBy(() -> ScheduleVerifier.verify(schedule))
        .as(change)
        .hasMessageContaining("error " + code);
  }

  private static void stepsAreRejected(List<ScheduleStep> steps, String code, String change) {
    rejected(with(CHIP.kernels(), steps, CHIP.residences()), code, change);
  }

  @Test
  void validSchedulesAreAccepted() {
    ScheduleVerifier.verify(with(CHIP.kernels(), CHIP.steps(), CHIP.residences()));
    assertThat(CHIP.steps()).hasAtLeastOneElementOfType(WaitTransfer.class);
  }

  @Test
  void missingWaitsAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof WaitTransfer) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        steps.set(i, new ScheduleStep.Clear(0, 0, Origin.NONE));
        stepsAreRejected(steps, "P441", "without wait at step " + i);
      }
    }
  }

  @Test
  void repeatedWaitsAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof WaitTransfer wait) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        steps.set(i + 1, wait);
        stepsAreRejected(steps, "P441", "a second wait at step " + (i + 1));
      }
    }
  }

  @Test
  void movedTransfersAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof StartTransfer start) {
        for (long shift : List.of(-8L, 8L)) {
          List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
          steps.set(
              i,
              new StartTransfer(
                  start.transfer(),
                  true,
                  start.far(),
                  start.home() + shift,
                  start.bytes(),
                  start.origin()));
          stepsAreRejected(steps, "P4412", "a transfer elsewhere at step " + i);
        }
      }
    }
  }

  @Test
  void movedOperandsAreRefused() {
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (CHIP.steps().get(i) instanceof RunTiles run) {
        for (int operand = 0; operand < run.operands().size(); operand++) {
          for (long shift : List.of(-4L, 4L)) {
            List<Long> offsets = new ArrayList<>(run.operands());
            offsets.set(operand, offsets.get(operand) + shift);
            List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
            steps.set(i, new RunTiles(run.kernel(), offsets, run.origin(), run.text()));
            stepsAreRejected(steps, "P4412", "operand " + operand + " of step " + i);
          }
        }
      }
    }
  }

  /** Excludes steps in place, whose operands remain valid. */
  @Test
  void missingStepsAreRefused() {
    int left = 0;
    for (int i = 0; i < CHIP.steps().size(); i++) {
      if (!worksInPlace(CHIP.steps().get(i))) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        steps.set(i, new ScheduleStep.Clear(0, 0, Origin.NONE));
        stepsAreRejected(steps, "P441", "without step " + i);
        left++;
      }
    }
    assertThat(left).isGreaterThan(15);
  }

  private static boolean worksInPlace(ScheduleStep step) {
    return step instanceof RunTiles run
        && run.operands().getFirst().equals(run.operands().getLast());
  }

  @Test
  void longerLifetimesAreRefused() {
    for (int i = 0; i < CHIP.residences().size(); i++) {
      Residence one = CHIP.residences().get(i);
      List<Residence> residences = new ArrayList<>(CHIP.residences());
      residences.set(i, new Residence(one.name(), one.at(), one.bytes(), -1, CHIP.steps().size()));
      boolean isShared =
          CHIP.residences().stream()
              .anyMatch(
                  other ->
                      other != one
                          && other.offset() < one.offset() + one.bytes()
                          && one.offset() < other.offset() + other.bytes());
      if (isShared) {
        rejected(with(CHIP.kernels(), CHIP.steps(), residences), "P4412", one.toString());
      }
    }
  }

  private static TileOperand slots(TileOperand one, long l1, long slotBytes) {
    return new TileOperand(
        one.name(), one.element(), one.direction(), one.box(), l1, slotBytes, one.slots());
  }

  @Test
  void smallerAndMovedSlotsAreRefused() {
    List<UnaryOperator<TileOperand>> changes =
        List.of(
            one -> slots(one, one.offset(), one.slotBytes() - 8),
            one -> slots(one, one.offset() + one.slotBytes(), one.slotBytes()),
            one -> slots(one, one.offset() - one.slotBytes(), one.slotBytes()));
    for (int kernel = 0; kernel < CHIP.kernels().size(); kernel++) {
      TiledKernel one = CHIP.kernels().get(kernel);
      for (int operand = 0; operand < one.operands().size(); operand++) {
        if (!one.operands().get(operand).isMoved()) {
          continue;
        }
        for (UnaryOperator<TileOperand> change : changes) {
          List<TileOperand> operands = new ArrayList<>(one.operands());
          operands.set(operand, change.apply(operands.get(operand)));
          List<TiledKernel> kernels = new ArrayList<>(CHIP.kernels());
          kernels.set(
              kernel,
              new TiledKernel(
                  one.name(),
                  one.axes(),
                  operands,
                  one.scratch(),
                  one.calls(),
                  one.stages(),
                  one.workingBytes()));
          rejected(
              with(kernels, CHIP.steps(), CHIP.residences()),
              "P4411",
              one.name() + ", operand " + operand);
        }
      }
    }
  }
}
