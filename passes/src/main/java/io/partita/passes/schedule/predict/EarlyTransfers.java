package io.partita.passes.schedule.predict;

import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The transfers of a chip that are in flight when a run begins.
 *
 * @param list in the order of their start
 */
record EarlyTransfers(List<Early> list) {
  /**
   * One of the transfers.
   *
   * @param start the step that starts it, before the first run or at the end of the run before
   */
  record Early(ScheduleStep start, DmaChannel channel, long bytes) {}

  static EarlyTransfers of(ChipSchedule role, ChipKind chip, MemoryNames names) {
    List<Early> early = new ArrayList<>();
    for (ScheduleStep step : role.start()) {
      if (step instanceof ScheduleStep.StartTransfer start) {
        early.add(
            new Early(start, chip.channel(names.far(), names.home()).orElseThrow(), start.bytes()));
      } else if (step instanceof ScheduleStep.Preload preload) {
        early.add(
            new Early(
                preload,
                chip.channel(names.home(), names.working()).orElseThrow(),
                preload.bytes()));
      }
    }
    return new EarlyTransfers(List.copyOf(early));
  }

  /**
   * Returns the remaining seconds of each transfer if all begin when the run does.
   *
   * @param hertz of the chip
   */
  List<Double> cold(double hertz) {
    List<Double> left = new ArrayList<>();
    Map<String, Double> seconds = new HashMap<>();
    for (Early each : list) {
      double own = each.channel.cycles(each.bytes, 0) / hertz;
      left.add(seconds.merge(each.channel.name(), own, Double::sum));
    }
    return left;
  }

  /**
   * Returns the seconds for which each transfer has its channel, which serves one after the other.
   *
   * @param left the seconds until the end of each
   */
  List<Double> occupied(List<Double> left) {
    List<Double> occupied = new ArrayList<>();
    Map<String, Double> before = new HashMap<>();
    for (int i = 0; i < list.size(); i++) {
      String channel = list.get(i).channel.name();
      double seconds = Math.max(0, left.get(i) - before.getOrDefault(channel, 0.0));
      before.merge(channel, seconds, Double::sum);
      occupied.add(seconds);
    }
    return occupied;
  }
}
