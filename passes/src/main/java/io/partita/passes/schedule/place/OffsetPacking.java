package io.partita.passes.schedule.place;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Packs regions into a memory so that regions with overlapping live ranges do not overlap in space.
 * Each region takes the lowest gap that it fits. Several orders are tried, and the best result is
 * kept.
 */
final class OffsetPacking {
  /**
   * @param bytes a multiple of the memory's alignment
   * @param first the first step of the live range
   * @param last the last step of the live range
   */
  record Interval(long bytes, int first, int last) {}

  /**
   * @param offsets the offset of each interval
   * @param bytes the size of the packed memory
   */
  record Packed(List<Long> offsets, long bytes) {}

  private static final List<Comparator<Interval>> ORDERS =
      List.of(
          Comparator.comparingLong(Interval::bytes).reversed(),
          Comparator.comparingLong((Interval each) -> each.bytes() * (each.last() - each.first()))
              .reversed(),
          Comparator.comparingInt((Interval each) -> each.last() - each.first()).reversed(),
          Comparator.comparingInt(Interval::first));

  private OffsetPacking() {}

  static Packed pack(List<Interval> intervals) {
    Packed best = null;
    for (Comparator<Interval> order : ORDERS) {
      Packed packed = pack(intervals, order);
      if (best == null || packed.bytes < best.bytes) {
        best = packed;
      }
    }
    return best;
  }

  private static Packed pack(List<Interval> intervals, Comparator<Interval> order) {
    Integer[] numbers = new Integer[intervals.size()];
    Arrays.setAll(numbers, i -> i);
    Arrays.sort(numbers, Comparator.comparing(intervals::get, order));
    Shelf shelf = new Shelf(intervals.size());
    Long[] offsets = new Long[intervals.size()];
    for (int next : numbers) {
      offsets[next] = shelf.put(intervals.get(next));
    }
    return new Packed(List.of(offsets), shelf.bytes);
  }

  /** Returns the intervals that have an offset, by ascending offset. */
  private static final class Shelf {
    private final long[] starts;
    private final long[] ends;
    private final int[] firsts;
    private final int[] lasts;
    private int count;
    private long bytes;

    Shelf(int capacity) {
      starts = new long[capacity];
      ends = new long[capacity];
      firsts = new int[capacity];
      lasts = new int[capacity];
    }

    /** Puts an interval into the lowest gap that it fits. */
    long put(Interval interval) {
      long start = lowestGap(interval);
      int at = Arrays.binarySearch(starts, 0, count, start);
      at = at < 0 ? -at - 1 : at;
      while (at < count && starts[at] == start) {
        at++;
      }
      insert(starts, at, start);
      insert(ends, at, start + interval.bytes);
      insert(firsts, at, interval.first);
      insert(lasts, at, interval.last);
      count++;
      bytes = Math.max(bytes, start + interval.bytes);
      return start;
    }

    private long lowestGap(Interval interval) {
      long start = 0;
      for (int i = 0; i < count; i++) {
        if (firsts[i] <= interval.last && interval.first <= lasts[i]) {
          if (starts[i] - start >= interval.bytes) {
            return start;
          }
          start = Math.max(start, ends[i]);
        }
      }
      return start;
    }

    private void insert(long[] values, int at, long value) {
      System.arraycopy(values, at, values, at + 1, count - at);
      values[at] = value;
    }

    private void insert(int[] values, int at, int value) {
      System.arraycopy(values, at, values, at + 1, count - at);
      values[at] = value;
    }
  }

  /** Returns the peak of live bytes, a lower bound of any packing. */
  static long needed(List<Interval> intervals) {
    long most = 0;
    for (long sum : sums(intervals).values()) {
      most = Math.max(most, sum);
    }
    return most;
  }

  /** Returns the live bytes by the step from which they are live, up to the next key. */
  static NavigableMap<Integer, Long> sums(List<Interval> intervals) {
    NavigableMap<Integer, Long> sums = new TreeMap<>();
    for (Interval each : intervals) {
      if (each.first() <= each.last()) {
        sums.merge(each.first(), each.bytes(), Long::sum);
        sums.merge(each.last() + 1, -each.bytes(), Long::sum);
      }
    }
    long now = 0;
    for (Map.Entry<Integer, Long> each : sums.entrySet()) {
      now += each.getValue();
      each.setValue(now);
    }
    return sums;
  }
}
