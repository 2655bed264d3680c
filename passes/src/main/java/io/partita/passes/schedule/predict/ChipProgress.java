package io.partita.passes.schedule.predict;

import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayList;
import java.util.List;

/** How far a chip has come on a timeline, and what each of its steps computed and moved. */
final class ChipProgress {
  private final TargetTimeline timeline;
  private final int device;
  private final List<Integer> ends = new ArrayList<>();
  private final List<Double> computed = new ArrayList<>();
  private final List<Traffic> moved = new ArrayList<>();
  private int reached;
  private double compute;
  private Traffic traffic = Traffic.NONE;

  ChipProgress(TargetTimeline timeline, int device) {
    this.timeline = timeline;
    this.device = device;
    this.reached = timeline.join();
  }

  TargetTimeline timeline() {
    return timeline;
  }

  int device() {
    return device;
  }

  ChipKind chip() {
    return timeline.chip(device);
  }

  MemoryNames names() {
    return MemoryNames.of(chip());
  }

  /** The event at whose end the chip does what comes next. */
  int reached() {
    return reached;
  }

  void reach(int event) {
    reached = event;
  }

  /** Continues when another event has ended, too. */
  void await(int event) {
    reached = timeline.join(reached, event);
  }

  /** Adds cycles of the cores. */
  void compute(String label, double cycles) {
    reached = timeline.compute(device, label, cycles, reached);
  }

  /** Moves bytes between the home memory and the working memory, and waits for them. */
  void move(String from, String to, String label, long bytes) {
    reached = timeline.transfer(device, from, to, label, bytes, reached);
    count(new Traffic(bytes, 0, 0, 0));
  }

  /** Counts bytes that the current step moves. */
  void count(Traffic more) {
    traffic = traffic.plus(more);
  }

  /** Counts cycles in which kernels of the current step run. */
  void count(double cycles) {
    compute += cycles;
  }

  /** The number of steps that have ended. */
  int steps() {
    return ends.size();
  }

  /** The current step ends at an event. */
  void end(int event) {
    ends.add(event);
    computed.add(compute);
    moved.add(traffic);
    compute = 0;
    traffic = Traffic.NONE;
  }

  DevicePrediction prediction(Outcome outcome, EnergyModel energy) {
    List<StepPrediction> steps = new ArrayList<>();
    double before = 0;
    double all = 0;
    for (int i = 0; i < ends.size(); i++) {
      double end = outcome.end(ends.get(i)) * chip().hertz();
      steps.add(new StepPrediction(before, end - before, computed.get(i), moved.get(i)));
      before = end;
      all += computed.get(i);
    }
    return new DevicePrediction(device, before, all, energy, steps);
  }
}
