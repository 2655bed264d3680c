package io.partita.ir.message;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** The elements {@code start} to {@code start + size - 1} of the vector of a collective. */
public record Slice(long start, long size) {
  public Slice {
    if (start < 0 || size < 0) {
      throw new IllegalArgumentException("elements from " + start + ", " + size + " of them");
    }
  }

  public long end() {
    return start + size;
  }

  public boolean overlaps(Slice other) {
    return start < other.end() && other.start < end();
  }

  public boolean contains(Slice other) {
    return start <= other.start() && other.end() <= end();
  }

  /** Returns the elements that are in both, an empty slice if there are none. */
  public Slice intersection(Slice other) {
    long from = Math.max(start, other.start());
    return new Slice(from, Math.max(0, Math.min(end(), other.end()) - from));
  }

  /** Returns slices in ascending order, without empty ones, and with adjacent ones merged. */
  public static List<Slice> joined(List<Slice> slices) {
    List<Slice> joined = new ArrayList<>();
    List<Slice> sorted = new ArrayList<>(slices);
    sorted.sort(Comparator.comparingLong(Slice::start));
    for (Slice slice : sorted) {
      if (slice.size() == 0) {
        continue;
      }
      if (!joined.isEmpty() && joined.getLast().end() == slice.start()) {
        Slice last = joined.removeLast();
        joined.add(new Slice(last.start(), last.size() + slice.size()));
      } else {
        joined.add(slice);
      }
    }
    return joined;
  }

  /**
   * Returns the sum of the sizes of slices.
   *
   * @throws ArithmeticException if it doesn't fit 64 bits
   */
  public static long elements(List<Slice> slices) {
    return slices.stream().mapToLong(Slice::size).reduce(0, Math::addExact);
  }

  /**
   * Returns the elements before a slice that is in one of several, which follow each other.
   *
   * @throws IllegalArgumentException if it is in none
   */
  public static long offset(Slice slice, List<Slice> in) {
    long before = 0;
    for (Slice each : in) {
      if (each.contains(slice)) {
        return before + slice.start() - each.start();
      }
      before += each.size();
    }
    throw new IllegalArgumentException(slice + " isn't in " + in);
  }

  /** {@code [64, 128)}. */
  @Override
  public String toString() {
    return "[" + start + ", " + end() + ")";
  }

  /** Returns the start and size of each slice as text: {@code 0+64 128+64}. */
  public static String text(List<Slice> slices) {
    return slices.stream()
        .map(slice -> slice.start + "+" + slice.size)
        .collect(Collectors.joining(" "));
  }
}
