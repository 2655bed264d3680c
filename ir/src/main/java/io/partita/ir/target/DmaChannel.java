package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;
import java.util.OptionalLong;

/**
 * What moves bytes between two memories of a chip, one transfer at a time: {@code n} bytes in
 * {@code l} lines take {@code setup + n / rate + l line} cycles of the chip's clock.
 *
 * @param bothWays whether the other direction uses it, too
 */
public record DmaChannel(String from, String to, boolean bothWays, Figures figures) {
  static final List<Field> FIELDS =
      List.of(
          Field.required("rate", Dimension.BYTES_PER_CYCLE, Range.POSITIVE),
          Field.required("setup", Dimension.CYCLES, Range.ANY),
          Field.optional("issue", Dimension.CYCLES, Range.ANY),
          Field.optional("line", Dimension.CYCLES, Range.ANY),
          Field.optional("limit", Dimension.BYTES, Range.POSITIVE_WHOLE),
          Field.required("energy", Dimension.JOULES_PER_BYTE, Range.ANY));

  public double bytesPerCycle() {
    return figures.number("rate");
  }

  public double setupCycles() {
    return figures.number("setup");
  }

  /** Cycles of a core to start a transfer. */
  public double issueCycles() {
    return figures.number("issue", 0);
  }

  /** Cycles that each line of a two-dimensional transfer adds. */
  public double lineCycles() {
    return figures.number("line", 0);
  }

  /** Bytes that one transfer moves at most. */
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

  /** Of one transfer of {@code bytes}, in as many pieces as the limit makes of it. */
  public double cycles(long bytes, long lines) {
    long pieces = limitBytes().isPresent() ? Math.ceilDiv(bytes, limitBytes().getAsLong()) : 1;
    return Math.max(1, pieces) * setupCycles() + bytes / bytesPerCycle() + lines * lineCycles();
  }

  /** {@code l2 -> l1}. */
  public String name() {
    return from + (bothWays ? " <-> " : " -> ") + to;
  }
}
