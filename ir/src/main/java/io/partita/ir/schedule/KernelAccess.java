package io.partita.ir.schedule;

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
record KernelAccess(String pointer, Kind kind, boolean isOptional, int bits, List<Step> steps) {
  enum Kind {
    READ,
    /** Which of these elements are read depends on values, or on windows that may overlap. */
    READ_SOME,
    WRITE
  }

  /** So many indices, each as many elements after the one before. */
  record Step(long extent, long stride) {}

  KernelAccess {
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
  long elements() {
    return steps.stream().mapToLong(Step::extent).reduce(1, Math::multiplyExact);
  }

  /** The lowest offset from the pointer. */
  long first() {
    return ends().map(end -> Math.min(end, 0)).sum();
  }

  /** The highest one. */
  long last() {
    return ends().map(end -> Math.max(end, 0)).sum();
  }

  private LongStream ends() {
    return steps.stream().mapToLong(step -> Math.multiplyExact(step.extent() - 1, step.stride()));
  }

  /**
   * Adds the elements that are touched to a set.
   *
   * @param pointer the element that the pointer is at
   */
  void addTo(BitSet touched, long pointer) {
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
    add(touched, pointer + first(), line, rest);
  }

  /** Those that lead somewhere, without a sign, the shortest first. */
  private List<Step> upwards() {
    return steps.stream()
        .filter(step -> step.extent() > 1 && step.stride() != 0)
        .map(step -> new Step(step.extent(), Math.abs(step.stride())))
        .sorted(Comparator.comparingLong(Step::stride))
        .toList();
  }

  private static void add(BitSet touched, long from, long line, List<Step> steps) {
    if (steps.isEmpty()) {
      touched.set((int) from, (int) (from + line));
      return;
    }
    Step outer = steps.getLast();
    for (long i = 0; i < outer.extent(); i++) {
      add(touched, from + i * outer.stride(), line, steps.subList(0, steps.size() - 1));
    }
  }
}
