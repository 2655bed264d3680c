package io.partita.passes.schedule.place;

import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.view.Region;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The addresses of regions, in bytes.
 *
 * @param home addresses in the home memory, of regions that are there at some time
 * @param far addresses in the farther memory, of constants and states that are fetched from it
 * @param streamed the regions of {@code home} that are there only from their transfer to their last
 *     use
 * @param start the transfers that are in flight when a run begins
 * @param before for each task, the transfers that are started and awaited right before it; the last
 *     entry is for the end of the run
 * @param fits whether all live regions fit the home memory at all times, and the others the farther
 *     memory
 * @param room bytes of the home memory for large weights and states, resident or streamed
 * @param traffic the bytes that a run moves between the two memories
 * @param cycles of a run that follows another one, without messages, predicted by the chip's
 *     figures
 * @param peak the regions that are live at the peak, the largest first
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
    long traffic,
    double cycles,
    List<Region> peak) {
  /** Smaller parts aren't worth a loop each. */
  private static final long MIN_PART = 16_384;

  /** With more parts only the largest size is tried, since placing them takes long. */
  private static final long MAX_PARTS = 4096;

  /** The largest part of a weight takes one of these fractions of the room: 1/4, 1/8 and so on. */
  private static final List<Long> SHARES = List.of(4L, 8L, 16L, 32L);

  /** Also these, if few bytes are to be moved: smaller parts leave more room for other weights. */
  private static final List<Long> SMALL_SHARES = List.of(64L, 128L);

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
   * Returns the part sizes with which several parts of weights fit the ring at the same time: none
   * if no weight is larger, and only the largest size if there are very many parts. If the farther
   * memory is too small, there are some only if both memories together may be large enough, since
   * parts need a smaller ring and leave room for others, or if whole weights don't fit the home
   * memory either: in parts they may, and only the farther memory is then named as too small.
   *
   * @param leastTraffic as in {@link #isBetterThan}
   */
  public List<Long> partSizes(boolean leastTraffic) {
    LongSummaryStatistics weights =
        streamed.stream()
            .filter(region -> region.kind() == Region.Kind.CONSTANT)
            .mapToLong(Region::bytes)
            .summaryStatistics();
    boolean fitsFar = excess(farUse) == 0;
    return room < MIN_PART || !fitsFar && excess(homeUse) == 0 && !mayFitTogether()
        ? List.of()
        : Stream.concat(SHARES.stream(), leastTraffic ? SMALL_SHARES.stream() : Stream.empty())
            .map(share -> Math.max(MIN_PART, room / share))
            .filter(size -> size < weights.getMax())
            .filter(
                size ->
                    fitsFar && size == Math.max(MIN_PART, room / SHARES.getFirst())
                        || weights.getSum() / size <= MAX_PARTS)
            .distinct()
            .toList();
  }

  /** Whether large weights and states have room in both memories together. */
  private boolean mayFitTogether() {
    Set<Region> passing = Collections.newSetFromMap(new IdentityHashMap<>());
    passing.addAll(streamed);
    long staying =
        home.keySet().stream()
            .filter(region -> Placement.isLarge(region) && !passing.contains(region))
            .mapToLong(Region::bytes)
            .sum();
    return staying + farUse.used() <= room + farUse.available();
  }

  /**
   * Returns whether this placement fits and the other doesn't, or takes clearly less time, or lacks
   * less room: first of the home memory, since the farther one is a part of its own, which can be
   * replaced by a larger one.
   *
   * @param leastTraffic whether fewer bytes that are moved count more than time
   */
  public boolean isBetterThan(Places other, boolean leastTraffic) {
    if (fits != other.fits) {
      return fits;
    }
    if (fits && leastTraffic && traffic != other.traffic) {
      return traffic < other.traffic;
    }
    return fits ? cycles < other.cycles * WORTH : excess().compareTo(other.excess()) < 0;
  }

  /** Returns the placement of both runs together: whether both fit, and the sum of their times. */
  Places and(Places other) {
    Places larger = excess().compareTo(other.excess()) >= 0 ? this : other;
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
        traffic + other.traffic,
        cycles + other.cycles,
        larger.peak);
  }

  private Excess excess() {
    return new Excess(excess(homeUse), excess(farUse));
  }

  private static long excess(MemoryUse use) {
    return Math.max(0, use.used() - use.available());
  }

  /** Missing bytes of both memories. */
  private record Excess(long home, long far) implements Comparable<Excess> {
    private static final Comparator<Excess> ORDER =
        Comparator.comparingLong(Excess::home).thenComparingLong(Excess::far);

    @Override
    public int compareTo(Excess other) {
      return ORDER.compare(this, other);
    }
  }
}
