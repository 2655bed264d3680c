package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;
import java.util.OptionalLong;

/**
 * A DMA channel between two memories of a chip, with one transfer at a time: {@code n} bytes in
 * {@code l} lines take {@code setup + n / rate + l line} cycles of the chip's clock.
 *
 * @param bothWays whether it also serves the opposite direction
 */
public record DmaChannel(String from, String to, boolean bothWays, Figures figures) {
  static final List<Field> FIELDS =
      List.of(
          Field.required("rate", Dimension.BYTES_PER_CYCLE, Range.POSITIVE),
          Field.optional("busy", Dimension.BYTES_PER_CYCLE, Range.POSITIVE),
          Field.required("setup", Dimension.CYCLES, Range.ANY),
          Field.optional("issue", Dimension.CYCLES, Range.ANY),
          Field.optional("line", Dimension.CYCLES, Range.ANY),
          Field.optional("box", Dimension.CYCLES, Range.ANY),
          Field.optional("limit", Dimension.BYTES, Range.POSITIVE_WHOLE),
          Field.required("energy", Dimension.JOULES_PER_BYTE, Range.ANY));

  /** Returns the channel with a multiple of the rate. */
  public DmaChannel withRate(double factor) {
    return factor == 1 ? this : new DmaChannel(from, to, bothWays, figures.scaled("rate", factor));
  }

  public double bytesPerCycle() {
    return figures.number("rate");
  }

  /**
   * Returns how many times as long a transfer takes while cores compute, which use the same banks.
   */
  public double busyFactor() {
    return bytesPerCycle() / figures.number("busy", bytesPerCycle());
  }

  public double setupCycles() {
    return figures.number("setup");
  }

  /** Returns the cycles of a core to start a transfer. */
  public double issueCycles() {
    return figures.number("issue", 0);
  }

  /** Returns the additional cycles for each line of a two-dimensional transfer. */
  public double lineCycles() {
    return figures.number("line", 0);
  }

  /** Returns the additional cycles of a core to start a tile that isn't one line. */
  public double boxCycles() {
    return figures.number("box", 0);
  }

  /** Returns the largest number of bytes in one transfer. */
  public OptionalLong limitBytes() {
    return figures.find("limit").isPresent()
        ? OptionalLong.of(figures.whole("limit"))
        : OptionalLong.empty();
  }

  public double joulesPerByte() {
    return figures.number("energy");
  }

  public boolean joins(String source, String destination) {
    return from.equals(source) && to.equals(destination)
        || bothWays && from.equals(destination) && to.equals(source);
  }

  /** Returns the cycles to transfer {@code bytes}, divided into pieces of at most the limit. */
  public double cycles(long bytes, long lines) {
    long pieces = limitBytes().isPresent() ? Math.ceilDiv(bytes, limitBytes().getAsLong()) : 1;
    return Math.max(1, pieces) * setupCycles() + bytes / bytesPerCycle() + lines * lineCycles();
  }

  /** Returns text such as {@code l2 -> l1}. */
  public String name() {
    return from + (bothWays ? " <-> " : " -> ") + to;
  }
}
