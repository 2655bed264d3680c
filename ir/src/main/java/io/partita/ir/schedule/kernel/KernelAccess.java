package io.partita.ir.schedule.kernel;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The elements that a kernel touches through one pointer: one for each index of the steps.
 *
 * @param pointer the field of the kernel's struct
 * @param isOptional whether the pointer may be null
 * @param bits of an element
 */
public record KernelAccess(
    String pointer, Kind kind, boolean isOptional, int bits, List<Step> steps) {
  /** What a kernel does with elements. */
  public enum Kind {
    READ,
    /** Which of these elements are read depends on values, or on windows that may overlap. */
    READ_SOME,
    WRITE
  }

  /** So many indices, each as many elements after the one before. */
  public record Step(long extent, long stride) {}

  public KernelAccess {
    steps = List.copyOf(steps);
  }

  /** Steps through a tensor that is contiguous. */
  static List<Step> contiguous(long... extents) {
    Step[] steps = new Step[extents.length];
    long stride = 1;
    for (int i = extents.length - 1; i >= 0; i--) {
      steps[i] = new Step(extents[i], stride);
      stride = Math.multiplyExact(stride, extents[i]);
    }
    return List.of(steps);
  }

  /** How many elements one walk touches; those that are touched again count again. */
  public long elements() {
    return steps.stream().mapToLong(Step::extent).reduce(1, Math::multiplyExact);
  }

  /** The lowest offset from the pointer. */
  public long first() {
    return ends().map(end -> Math.min(end, 0)).sum();
  }

  /** The highest one. */
  public long last() {
    return ends().map(end -> Math.max(end, 0)).sum();
  }

  private LongStream ends() {
    return steps.stream().mapToLong(step -> Math.multiplyExact(step.extent() - 1, step.stride()));
  }

  /** Elements side by side. */
  @FunctionalInterface
  public interface Stretch {
    /**
     * @param to the one after the last
     */
    void at(long from, long to);
  }

  /**
   * Adds the elements that are touched to a set.
   *
   * @param pointer the element that the pointer is at
   */
  public void addTo(BitSet touched, long pointer) {
    stretches(pointer, (from, to) -> touched.set((int) from, (int) to));
  }

  /**
   * Goes through the elements that are touched, as many side by side at once as can be seen.
   *
   * @param pointer the element that the pointer is at
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

  /** Those that lead somewhere, without a sign, the shortest first. */
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
