package io.partita.passes.schedule.predict;

import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.DmaChannel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** The preloads that a chip is to start, in their order, and those that are under way. */
final class PreloadQueue {
  private final ChipProgress progress;
  private final Deque<ScheduleStep.Preload> asked = new ArrayDeque<>();

  /** The bytes of the first of them that are under way. */
  private long started;

  /** The events at whose end preloads have arrived, by their numbers. */
  private final Map<Integer, Integer> arrivals = new HashMap<>();

  PreloadQueue(ChipProgress progress) {
    this.progress = progress;
  }

  /** Adds what the next loop or exchange is to preload. */
  void ask(ScheduleStep.Preload preload) {
    asked.add(preload);
  }

  /**
   * Starts all that was asked for.
   *
   * @param areComputing whether cores compute meanwhile, which use the same banks
   */
  void start(boolean areComputing) {
    start(Long.MAX_VALUE, areComputing);
  }

  /**
   * Starts at most so many bytes of what was asked for.
   *
   * @param areComputing whether cores compute meanwhile, which use the same banks
   */
  void start(long most, boolean areComputing) {
    MemoryNames names = progress.names();
    for (long room = most; room > 0 && !asked.isEmpty(); ) {
      ScheduleStep.Preload preload = asked.getFirst();
      long bytes = Math.min(preload.bytes() - started, room);
      DmaChannel channel = progress.chip().channel(names.home(), names.working()).orElseThrow();
      double cycles = channel.cycles(bytes, 0) * (areComputing ? channel.busyFactor() : 1);
      int end =
          progress
              .timeline()
              .occupy(
                  progress.device(),
                  channel.name(),
                  preload.origin().name(),
                  cycles / progress.chip().hertz(),
                  bytes,
                  progress.reached());
      arrives(preload, end);
      progress.count(new Traffic(bytes, 0, 0, 0));
      room -= bytes;
      started += bytes;
      if (started == preload.bytes()) {
        asked.removeFirst();
        started = 0;
      }
    }
  }

  /** A part of a preload arrives with an event. */
  void arrives(ScheduleStep.Preload preload, int event) {
    arrivals.merge(preload.preload(), event, (one, other) -> progress.timeline().join(one, other));
  }

  /** Returns the event at whose end all started parts of a preload have arrived. */
  int arrival(int preload) {
    return arrivals.get(preload);
  }

  /** Returns the event for which the chip waits before it uses a preload, once. */
  int awaited(int preload) {
    return arrivals.remove(preload);
  }
}
