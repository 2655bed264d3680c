package io.partita.ir.schedule.kernel;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The elements that a kernel accesses through one pointer: one for each index of the steps.
 *
 * @param pointer the field of the struct
 * @param isOptional whether the pointer may be null
 * @param bits the bits of an element
 */
public record KernelAccess(
    String pointer, Kind kind, boolean isOptional, int bits, List<Step> steps) {
  /** The kind of an access. */
  public enum Kind {
    READ,
    /** Reads some of these elements, depending on values or on overlapping windows. */
    READ_SOME,
    WRITE,
    /** Writes these elements and reads them again; nothing else does. */
    WORK
  }

  /** A number of indices and their stride in elements. */
  public record Step(long extent, long stride) {}

  public KernelAccess {
    steps = List.copyOf(steps);
  }

  /** Returns the steps of a contiguous tensor. */
  static List<Step> contiguous(long... extents) {
    Step[] steps = new Step[extents.length];
    long stride = 1;
    for (int i = extents.length - 1; i >= 0; i--) {
      steps[i] = new Step(extents[i], stride);
      stride = Math.multiplyExact(stride, extents[i]);
    }
    return List.of(steps);
  }

  /** Returns the number of accesses, including repeated ones. */
  public long elements() {
    return steps.stream().mapToLong(Step::extent).reduce(1, Math::multiplyExact);
  }

  /** Returns the lowest offset from the pointer. */
  public long first() {
    return ends().map(end -> Math.min(end, 0)).sum();
  }

  /** Returns the highest offset from the pointer. */
  public long last() {
    return ends().map(end -> Math.max(end, 0)).sum();
  }

  private LongStream ends() {
    return steps.stream().mapToLong(step -> Math.multiplyExact(step.extent() - 1, step.stride()));
  }

  /** Receives contiguous elements. */
  @FunctionalInterface
  public interface Stretch {
    /**
     * @param to the end, exclusive
     */
    void at(long from, long to);
  }

  /**
   * Adds the accessed elements to a set.
   *
   * @param pointer the element at the pointer
   */
  public void addTo(BitSet touched, long pointer) {
    stretches(pointer, (from, to) -> touched.set((int) from, (int) to));
  }

  /**
   * Visits the accessed elements in contiguous ranges, as long as possible.
   *
   * @param pointer the element at the pointer
   */
  public void stretches(long pointer, Stretch stretch) {
    if (elements() == 0) {
      return;
    }
    long line = 1;
    List<Step> rest = new ArrayList<>();
    for (Step step : upwards()) {
      if (rest.isEmpty() && step.stride() <= line) {
        line += (step.extent() - 1) * step.stride();
      } else {
        rest.add(step);
      }
    }
    stretches(pointer + first(), line, rest, stretch);
  }

  /** Returns the steps with several indices, with absolute strides, in ascending order. */
  private List<Step> upwards() {
    return steps.stream()
        .filter(step -> step.extent() > 1 && step.stride() != 0)
        .map(step -> new Step(step.extent(), Math.abs(step.stride())))
        .sorted(Comparator.comparingLong(Step::stride))
        .toList();
  }

  private static void stretches(long from, long line, List<Step> steps, Stretch stretch) {
    if (steps.isEmpty()) {
      stretch.at(from, from + line);
      return;
    }
    Step outer = steps.getLast();
    for (long i = 0; i < outer.extent(); i++) {
      stretches(from + i * outer.stride(), line, steps.subList(0, steps.size() - 1), stretch);
    }
  }
}
