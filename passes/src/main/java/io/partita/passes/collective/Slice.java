package io.partita.passes.collective;

/** Elements {@code start} to {@code start + size - 1} of the vector of a collective. */
public record Slice(long start, long size) {
  public Slice {
    if (start < 0 || size < 0) {
      throw new IllegalArgumentException("elements from " + start + ", " + size + " of them");
    }
  }

  public long end() {
    return start + size;
  }

  /** {@code [64, 128)}. */
  @Override
  public String toString() {
    return "[" + start + ", " + end() + ")";
  }
}
