package io.partita.passes.schedule.predict;

import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.timing.SyncEvents.SyncTime;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One run of a schedule after another, by the figures of its target, to be set beside what is
 * measured: what a run fetches for the next one is under way when it begins. All positions of
 * caches count as filled.
 *
 * @param seconds until the last chip is done
 * @param interval seconds from one run to the next, at least {@code seconds}: what is fetched for
 *     the next run may take longer
 * @param breakdown of these seconds, by {@code compute} (loops with their transfers from home to
 *     the working memory and back), the farther of two memories, and {@code links}
 * @param joules by the formula of the MCU paper's section V-A
 * @param devices in order
 * @param syncs by number
 * @param links bytes on each link
 */
public record SchedulePrediction(
    double seconds,
    double interval,
    SortedMap<String, Double> breakdown,
    double joules,
    List<DevicePrediction> devices,
    List<SyncTime> syncs,
    SortedMap<String, Long> links) {
  public SchedulePrediction {
    devices = List.copyOf(devices);
    syncs = List.copyOf(syncs);
    links = Collections.unmodifiableSortedMap(new TreeMap<>(links));
  }

  /**
   * One chip.
   *
   * @param cycles of its cores' clock, until it's done
   * @param computeCycles in which kernels run
   * @param steps of its role, in order
   */
  public record DevicePrediction(
      int device,
      double cycles,
      double computeCycles,
      EnergyModel energy,
      List<StepPrediction> steps) {
    public DevicePrediction {
      steps = List.copyOf(steps);
    }

    public Traffic traffic() {
      return steps.stream().map(StepPrediction::traffic).reduce(Traffic.NONE, Traffic::plus);
    }

    public double joules() {
      return energy.joules(computeCycles, traffic());
    }
  }

  /**
   * One step of a chip.
   *
   * @param start in cycles from the run's start
   * @param cycles from its start to the next step's, waiting included
   * @param computeCycles of these, in which kernels run
   */
  public record StepPrediction(
      double start, double cycles, double computeCycles, Traffic traffic) {}

  /**
   * Bytes that are moved, as ports count them (hal.h): both directions together, and of a transfer
   * at its start.
   */
  public record Traffic(long homeWorking, long farHome, long sent, long received) {
    public static final Traffic NONE = new Traffic(0, 0, 0, 0);

    public Traffic plus(Traffic other) {
      return new Traffic(
          homeWorking + other.homeWorking,
          farHome + other.farHome,
          sent + other.sent,
          received + other.received);
    }
  }

  /**
   * Plays a run, and one that begins when it has ended on all chips.
   *
   * @param target the one that the schedule was made for
   */
  public static SchedulePrediction of(Schedule schedule, TargetDescription target) {
    return new ScheduleTimeline(schedule, target)
        .predict(new ScheduleTimeline(schedule, target).left());
  }
}
