package io.partita.ir.target;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** Units of target descriptions, with their factors to the base unit of their dimension. */
public enum Unit {
  ONE("", Dimension.COUNT, 1),
  B("B", Dimension.BYTES, 1),
  KB("KB", Dimension.BYTES, 1e3),
  MB("MB", Dimension.BYTES, 1e6),
  GB("GB", Dimension.BYTES, 1e9),
  KIB("KiB", Dimension.BYTES, 1L << 10),
  MIB("MiB", Dimension.BYTES, 1L << 20),
  GIB("GiB", Dimension.BYTES, 1L << 30),
  HZ("Hz", Dimension.FREQUENCY, 1),
  KHZ("kHz", Dimension.FREQUENCY, 1e3),
  MHZ("MHz", Dimension.FREQUENCY, 1e6),
  GHZ("GHz", Dimension.FREQUENCY, 1e9),
  CYCLES("cycles", Dimension.CYCLES, 1),
  B_PER_CYCLE("B/cycle", Dimension.BYTES_PER_CYCLE, 1),
  MAC_PER_CYCLE("MAC/cycle", Dimension.MACS_PER_CYCLE, 1),
  ELEMENTS_PER_CYCLE("elements/cycle", Dimension.ELEMENTS_PER_CYCLE, 1),
  B_PER_S("B/s", Dimension.BYTES_PER_SECOND, 1),
  KB_PER_S("KB/s", Dimension.BYTES_PER_SECOND, 1e3),
  MB_PER_S("MB/s", Dimension.BYTES_PER_SECOND, 1e6),
  GB_PER_S("GB/s", Dimension.BYTES_PER_SECOND, 1e9),
  KBPS("kbps", Dimension.BYTES_PER_SECOND, 1e3, 8),
  MBPS("Mbps", Dimension.BYTES_PER_SECOND, 1e6, 8),
  GBPS("Gbps", Dimension.BYTES_PER_SECOND, 1e9, 8),
  J_PER_B("J/B", Dimension.JOULES_PER_BYTE, 1),
  UJ_PER_B("uJ/B", Dimension.JOULES_PER_BYTE, 1, 1e6),
  NJ_PER_B("nJ/B", Dimension.JOULES_PER_BYTE, 1, 1e9),
  PJ_PER_B("pJ/B", Dimension.JOULES_PER_BYTE, 1, 1e12),
  W("W", Dimension.WATTS, 1),
  MW("mW", Dimension.WATTS, 1, 1e3),
  UW("uW", Dimension.WATTS, 1, 1e6),
  S("s", Dimension.SECONDS, 1),
  MS("ms", Dimension.SECONDS, 1, 1e3),
  US("us", Dimension.SECONDS, 1, 1e6),
  NS("ns", Dimension.SECONDS, 1, 1e9);

  private final String text;
  private final Dimension dimension;
  private final double multiplier;
  private final double divisor;

  Unit(String text, Dimension dimension, double multiplier) {
    this(text, dimension, multiplier, 1);
  }

  Unit(String text, Dimension dimension, double multiplier, double divisor) {
    this.text = text;
    this.dimension = dimension;
    this.multiplier = multiplier;
    this.divisor = divisor;
  }

  /** Returns its text; empty for a plain number. */
  public String text() {
    return text;
  }

  public Dimension dimension() {
    return dimension;
  }

  /**
   * Converts a number of this unit to bytes, hertz, cycles, bytes per second, joules per byte,
   * watts or seconds. Dividing by a power of ten rounds once, while multiplying by its inverse
   * rounds twice.
   */
  public double toBase(double number) {
    return number * multiplier / divisor;
  }

  public static Optional<Unit> of(String text) {
    return Arrays.stream(values()).filter(unit -> unit.text.equals(text)).findFirst();
  }

  /** Returns the units of a dimension, for messages. */
  static String choices(Dimension dimension) {
    return Arrays.stream(values())
        .filter(unit -> unit.dimension == dimension && !unit.text.isEmpty())
        .map(Unit::text)
        .collect(Collectors.joining(", "));
  }
}
