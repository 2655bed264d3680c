package io.partita.passes.schedule.place;

import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.view.Region;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
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
 * @param room bytes of L2 for large weights and states, whether they stay or pass
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
    long room,
    double cycles,
    List<Region> peak) {
  /** Smaller ones aren't worth a loop each. */
  private static final long SMALLEST_PART = 16_384;

  /** More are tried in the largest size only: they take long to place. */
  private static final long MOST_PARTS = 4096;

  /** Of the room. */
  private static final List<Long> SHARES = List.of(4L, 8L, 16L, 32L);

  private static final double WORTH = 0.995;

  public Places {
    l2 = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(l2));
    l3 = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(l3));
    streamed = List.copyOf(streamed);
    start = List.copyOf(start);
    before = List.copyOf(before);
    peak = List.copyOf(peak);
  }

  /**
   * How large parts of weights may be, so that several pass at the same time; none if no weight is
   * larger, and only the largest size where there are very many parts.
   */
  public List<Long> partSizes() {
    LongSummaryStatistics weights =
        streamed.stream()
            .filter(region -> region.kind() == Region.Kind.CONSTANT)
            .mapToLong(Region::bytes)
            .summaryStatistics();
    return room < SMALLEST_PART || l3Use.used() > l3Use.available()
        ? List.of()
        : SHARES.stream()
            .map(share -> Math.max(SMALLEST_PART, room / share))
            .filter(size -> size < weights.getMax())
            .filter(
                size ->
                    size == Math.max(SMALLEST_PART, room / SHARES.getFirst())
                        || weights.getSum() / size <= MOST_PARTS)
            .distinct()
            .toList();
  }

  /**
   * Whether all has room, or a run takes less time, by more than what isn't worth more steps; or
   * whether less has no room.
   */
  public boolean isBetterThan(Places other) {
    if (fits != other.fits) {
      return fits;
    }
    return fits ? cycles < other.cycles * WORTH : excess() < other.excess();
  }

  /** Of both together: whether both have room, and how long both take. */
  Places and(Places other) {
    Places larger = excess() >= other.excess() ? this : other;
    return new Places(
        larger.l2,
        larger.l3,
        larger.streamed,
        larger.start,
        larger.before,
        larger.l2Use,
        larger.l3Use,
        fits && other.fits,
        larger.room,
        cycles + other.cycles,
        larger.peak);
  }

  private long excess() {
    return Math.max(0, l2Use.used() - l2Use.available())
        + Math.max(0, l3Use.used() - l3Use.available());
  }
}
