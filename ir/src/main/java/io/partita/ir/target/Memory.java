package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/**
 * A memory of a chip.
 *
 * @param name such as {@code l1}; the first memory of a chip is the one that kernels work on
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

  /** Who reaches a memory. */
  public enum Scope {
    /** Each core has an equal part for itself; {@link Memory#bytes} are those of all parts. */
    CORE("core"),
    /** The cores of the compute cluster share it. */
    CLUSTER("cluster"),
    /** On the chip. */
    CHIP("chip"),
    /** Outside the chip, and its own. */
    OFF_CHIP("off-chip");

    private final String text;

    Scope(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  public long bytes() {
    return figures.whole("bytes");
  }

  /** Bytes that a program may use: what code and stacks don't take. */
  public long usable() {
    return Math.max(0, bytes() - (long) figures.number("reserved", 0));
  }

  /** Of its first byte, where the memory is mapped. */
  public OptionalLong address() {
    return figures.find("address").isPresent()
        ? OptionalLong.of(figures.whole("address"))
        : OptionalLong.empty();
  }

  /** In bytes, of what a transfer moves. */
  public int alignment() {
    return (int) figures.whole("alignment");
  }

  public Scope scope() {
    String text = figures.text("scope");
    return Arrays.stream(Scope.values()).filter(s -> s.text.equals(text)).findFirst().orElseThrow();
  }
}
