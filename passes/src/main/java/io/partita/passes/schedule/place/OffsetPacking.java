package io.partita.passes.schedule.place;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Offsets for regions that share a memory, such that none that are there at the same time overlap.
 * Each takes the lowest gap that it fits, in several orders, of which the best is kept.
 */
final class OffsetPacking {
  /**
   * @param bytes a multiple of the memory's alignment
   * @param first the first step at which it's there
   * @param last the last one
   */
  record Interval(long bytes, int first, int last) {
    boolean meets(Interval other) {
      return first <= other.last && other.first <= last;
    }
  }

  /**
   * @param offsets of each of the intervals
   * @param bytes that all take together
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
    List<Integer> sorted = new ArrayList<>();
    for (int i = 0; i < intervals.size(); i++) {
      sorted.add(i);
    }
    sorted.sort(Comparator.comparing(intervals::get, order));
    Long[] offsets = new Long[intervals.size()];
    List<Integer> placed = new ArrayList<>();
    long bytes = 0;
    for (int next : sorted) {
      long offset = lowestGap(intervals, next, placed, offsets);
      offsets[next] = offset;
      bytes = Math.max(bytes, offset + intervals.get(next).bytes());
      int at = 0;
      while (at < placed.size() && offsets[placed.get(at)] <= offset) {
        at++;
      }
      placed.add(at, next);
    }
    return new Packed(List.of(offsets), bytes);
  }

  /**
   * @param placed by offset
   */
  private static long lowestGap(
      List<Interval> intervals, int next, List<Integer> placed, Long[] offsets) {
    Interval interval = intervals.get(next);
    long offset = 0;
    for (int other : placed) {
      Interval there = intervals.get(other);
      if (there.meets(interval)) {
        if (offsets[other] - offset >= interval.bytes()) {
          return offset;
        }
        offset = Math.max(offset, offsets[other] + there.bytes());
      }
    }
    return offset;
  }

  /** The most that is there at once: no packing takes less. */
  static long needed(List<Interval> intervals) {
    long most = 0;
    for (long sum : sums(intervals).values()) {
      most = Math.max(most, sum);
    }
    return most;
  }

  /** How many bytes are there from one step on to the next of these steps. */
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
