package io.partita.passes.schedule.place;

import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.view.Region;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Where regions lie, in bytes.
 *
 * @param l2 those that are there at some time
 * @param l3 constants and states that are fetched from there
 * @param streamed those of {@code l2} that are in L2 only from a transfer to their last use
 * @param start the transfers that are under way when a run begins
 * @param before for each task the transfers that are started and awaited right before it, and at
 *     last those after all tasks
 * @param fits whether all that is in L2 at once has room there
 * @param ringBytes room for streamed weights
 * @param cycles of one run after another, without messages, as far as the chip's figures tell
 * @param peak what is in L2 at the moment when it's most, the largest first
 */
public record Places(
    SequencedMap<Region, Long> l2,
    SequencedMap<Region, Long> l3,
    List<Region> streamed,
    List<ScheduleStep> start,
    List<List<ScheduleStep>> before,
    MemoryUse l2Use,
    MemoryUse l3Use,
    boolean fits,
    long ringBytes,
    double cycles,
    List<Region> peak) {
  /** Smaller ones aren't worth a loop each. */
  private static final long SMALLEST_PART = 16_384;

  public Places {
    l2 = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(l2));
    l3 = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(l3));
    streamed = List.copyOf(streamed);
    start = List.copyOf(start);
    before = List.copyOf(before);
    peak = List.copyOf(peak);
  }

  /**
   * Whether weights are too large to be fetched while others are in use, and there's any room for
   * parts of them.
   */
  public boolean wantsParts() {
    return !streamed.isEmpty()
        && ringBytes >= SMALLEST_PART
        && l3Use.used() <= l3Use.available()
        && (!fits || streamed.stream().anyMatch(region -> region.bytes() > ringBytes / 2));
  }

  /** How large parts of weights should be, so that several have room. */
  public long partBytes() {
    return Math.max(SMALLEST_PART, ringBytes / 4);
  }
}
