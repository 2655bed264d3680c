package io.partita.passes.schedule.place;

import io.partita.ir.schedule.MemoryUse;
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
 * @param home those that are there at some time
 * @param far constants and states that are fetched from there
 * @param streamed those of {@code home} that are there only from a transfer to their last use
 * @param start the transfers that are under way when a run begins
 * @param before for each task the transfers that are started and awaited right before it, and at
 *     last those after all tasks
 * @param fits whether all that is in the home memory at once has room there
 * @param room bytes of the home memory for large weights and states, whether they stay or pass
 * @param cycles of one run after another, without messages, as far as the chip's figures tell
 * @param peak what is there at the moment when it's most, the largest first
 */
public record Places(
    SequencedMap<Region, Long> home,
    SequencedMap<Region, Long> far,
    List<Region> streamed,
    List<ScheduleStep> start,
    List<List<ScheduleStep>> before,
    MemoryUse homeUse,
    MemoryUse farUse,
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
    home = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(home));
    far = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(far));
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
    return room < SMALLEST_PART || farUse.used() > farUse.available()
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
        larger.home,
        larger.far,
        larger.streamed,
        larger.start,
        larger.before,
        larger.homeUse,
        larger.farUse,
        fits && other.fits,
        larger.room,
        cycles + other.cycles,
        larger.peak);
  }

  private long excess() {
    return Math.max(0, homeUse.used() - homeUse.available())
        + Math.max(0, farUse.used() - farUse.available());
  }
}
