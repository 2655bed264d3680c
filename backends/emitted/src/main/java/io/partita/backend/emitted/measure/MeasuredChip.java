package io.partita.backend.emitted.measure;

import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.ir.graph.Origin;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.ArrayList;
import java.util.List;

/**
 * The measured figures of one chip.
 *
 * @param programCycles cycles from the program's start to its end, including input and output
 * @param programMoved the bytes moved by the whole program
 * @param steps the steps of the last run, in order; empty without a profile
 * @param transfers the transfers with L3 during the last run; empty if they aren't recorded
 */
public record MeasuredChip(
    int chip,
    long programCycles,
    Traffic programMoved,
    List<StepFigures> steps,
    List<L3Transfer> transfers) {
  public MeasuredChip {
    steps = List.copyOf(steps);
    transfers = List.copyOf(transfers);
  }

  /**
   * A transfer between L3 and L2 that a step starts.
   *
   * @param step the step that starts it
   * @param requested the cycle at which that step begins
   * @param start the cycle at which the memory begins it; transfers are sequential
   * @param waited the cycles of the step that waits for it; 0 if that is in the next run
   */
  public record Transfer(
      int step, Origin origin, long bytes, long requested, long start, long end, long waited) {}

  /** The transfers that steps start, if the hardware recorded them. */
  public List<Transfer> transfers(Chip predicted) {
    List<Transfer> found = new ArrayList<>();
    List<L3Transfer> left = new ArrayList<>(transfers);
    for (int i = 0; i < steps.size() && !left.isEmpty(); i++) {
      StepLabel label = predicted.steps().get(i);
      if (label.bytes() > 0) {
        List<L3Transfer> own = take(label, steps.get(i).start(), left);
        if (!own.isEmpty()) {
          found.add(
              new Transfer(
                  i,
                  label.origin(),
                  label.bytes(),
                  steps.get(i).start(),
                  own.getFirst().start(),
                  own.getLast().end(),
                  waited(predicted, i)));
        }
      }
    }
    return found;
  }

  /** Removes and returns the next transfers in a range of L3. */
  private static List<L3Transfer> take(StepLabel label, long start, List<L3Transfer> left) {
    List<L3Transfer> own = new ArrayList<>();
    long bytes = 0;
    for (L3Transfer each : List.copyOf(left)) {
      boolean isInside =
          each.address() >= label.l3() && each.address() < label.l3() + label.bytes();
      if (isInside && each.start() >= start && bytes < label.bytes()) {
        own.add(each);
        left.remove(each);
        bytes += each.bytes();
      }
    }
    return own;
  }

  private long waited(Chip predicted, int from) {
    int number = predicted.steps().get(from).transfer();
    for (int i = from + 1; i < steps.size(); i++) {
      StepLabel label = predicted.steps().get(i);
      if (label.kind() == StepLabel.Kind.WAIT && label.transfer() == number) {
        return steps.get(i).cycles();
      }
    }
    return 0;
  }

  /** The cycles of the run in which L3 was busy. */
  public long l3Cycles() {
    return steps.isEmpty()
        ? 0
        : L3Transfer.busy(
            transfers,
            steps.getFirst().start(),
            steps.getLast().start() + steps.getLast().cycles());
  }

  /** The part of {@link #l3Cycles} during which the chip didn't wait for L3. */
  public long hiddenL3Cycles(Chip predicted) {
    long hidden = l3Cycles();
    for (int i = 0; i < steps.size(); i++) {
      StepFigures step = steps.get(i);
      if (predicted.steps().get(i).kind().waitsForL3()) {
        hidden -= L3Transfer.busy(transfers, step.start(), step.start() + step.cycles());
      }
    }
    return hidden;
  }

  /** The cycles of steps that only wait for L3. */
  public static long waitCycles(Chip chip, List<StepFigures> steps) {
    long cycles = 0;
    for (int i = 0; i < steps.size(); i++) {
      cycles += chip.steps().get(i).kind().waitsForL3() ? steps.get(i).cycles() : 0;
    }
    return cycles;
  }
}
