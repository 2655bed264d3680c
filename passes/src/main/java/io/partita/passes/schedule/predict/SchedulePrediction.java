package io.partita.passes.schedule.predict;

import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.SyncEvents.SyncTime;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

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
   * Plays a run, and one that begins when it has ended on all chips. If chips skip guarded regions,
   * all comparisons of floats are false: {@link Verdict#MISS}.
   *
   * @param target the one that the schedule was made for
   */
  public static SchedulePrediction of(Schedule schedule, TargetDescription target) {
    return of(schedule, target, Verdict.MISS, Optional.empty());
  }

  /**
   * Like {@link #of(Schedule, TargetDescription)}.
   *
   * @param recorder receives what each resource did during the run
   */
  public static SchedulePrediction of(
      Schedule schedule, TargetDescription target, Consumer<RecordedTimeline> recorder) {
    return of(schedule, target, Verdict.MISS, Optional.of(recorder));
  }

  /**
   * Like {@link #of(Schedule, TargetDescription)}, for a run in which all comparisons of floats are
   * true: {@link Verdict#HIT}.
   *
   * @return empty if chips skip nothing, or what they skip can't be foreseen
   */
  public static Optional<SchedulePrediction> ofHits(Schedule schedule, TargetDescription target) {
    boolean isForeseen =
        schedule.roles().stream()
            .flatMap(role -> role.steps().stream())
            .anyMatch(
                step -> step instanceof ScheduleStep.Guard guard && guard.foreseen().isPresent());
    return isForeseen
        ? Optional.of(of(schedule, target, Verdict.HIT, Optional.empty()))
        : Optional.empty();
  }

  private static SchedulePrediction of(
      Schedule schedule,
      TargetDescription target,
      Verdict verdict,
      Optional<Consumer<RecordedTimeline>> recorder) {
    return new ScheduleTimeline(schedule, target, verdict)
        .predict(new ScheduleTimeline(schedule, target, verdict).left(), recorder);
  }
}
