package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;

/**
 * A kind of link between devices, which carries one message at a time in each direction. A message
 * of {@code n} bytes occupies it for {@code startup + n / bandwidth} and arrives {@code latency}
 * later.
 */
public record Link(String name, Figures figures) {
  static final List<Field> FIELDS =
      List.of(
          Field.required("bandwidth", Dimension.BYTES_PER_SECOND, Range.POSITIVE),
          Field.required("latency", Dimension.SECONDS, Range.ANY),
          Field.optional("startup", Dimension.SECONDS, Range.ANY),
          Field.required("energy", Dimension.JOULES_PER_BYTE, Range.ANY),
          Field.optional("buffer", Dimension.COUNT, Range.WHOLE));

  public double bytesPerSecond() {
    return figures.number("bandwidth");
  }

  public double latencySeconds() {
    return figures.number("latency");
  }

  /** Returns the time that software and protocol add to each message, in seconds. */
  public double startupSeconds() {
    return figures.number("startup", 0);
  }

  public double joulesPerByte() {
    return figures.number("energy");
  }

  /** Returns the number of messages in flight after which a send blocks; 0 for a rendezvous. */
  public int buffer() {
    return (int) figures.number("buffer", 0);
  }
}
