package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * A memory of a chip.
 *
 * @param name a name such as {@code l1}; kernels work on the first memory of a chip
 */
public record Memory(String name, Figures figures) {
  static final List<Field> FIELDS =
      List.of(
          Field.required("bytes", Dimension.BYTES, Range.POSITIVE_WHOLE),
          Field.optional("reserved", Dimension.BYTES, Range.WHOLE),
          Field.optional("address", Dimension.COUNT, Range.WHOLE),
          Field.required("alignment", Dimension.BYTES, Range.POWER_OF_TWO),
          Field.text(
              "scope", Arrays.stream(Scope.values()).map(Scope::text).toArray(String[]::new)));

  /** The sharing of a memory. */
  public enum Scope {
    /** Each core has a private part of equal size; {@link Memory#bytes} is the sum of all parts. */
    CORE("core"),
    /** Shared by the cores of the compute cluster. */
    CLUSTER("cluster"),
    /** Shared by the whole chip. */
    CHIP("chip"),
    /** Outside the chip, and private to it. */
    OFF_CHIP("off-chip");

    private final String text;

    Scope(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** Returns the memory with another number of bytes. */
  Memory resized(Quantity bytes) {
    SequencedMap<String, Figure> changed = new LinkedHashMap<>(figures.byName());
    changed.computeIfPresent("bytes", (key, figure) -> new Figure(bytes, figure.origin()));
    return new Memory(name, new Figures(changed));
  }

  public long bytes() {
    return figures.whole("bytes");
  }

  /** Returns the bytes available to programs, without code and stacks. */
  public long usable() {
    return Math.max(0, bytes() - (long) figures.number("reserved", 0));
  }

  /** Returns the address of the first byte, if the memory is mapped. */
  public OptionalLong address() {
    return figures.find("address").isPresent()
        ? OptionalLong.of(figures.whole("address"))
        : OptionalLong.empty();
  }

  /** Returns the alignment of transfers, in bytes. */
  public int alignment() {
    return (int) figures.whole("alignment");
  }

  public Scope scope() {
    String text = figures.text("scope");
    return Arrays.stream(Scope.values()).filter(s -> s.text.equals(text)).findFirst().orElseThrow();
  }
}
