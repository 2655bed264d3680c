package io.partita.ir.schedule;

import io.partita.ir.tensor.BlockFloat;
import io.partita.ir.type.ElementType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** How memories hold the elements of a tensor. */
public enum Packing {
  /** One after the other, in the bits of their type. */
  PLAIN("plain"),

  /**
   * In blocks of 16 in a row that share an exponent ({@link BlockFloat}). Rows begin with a block.
   * Kernels unpack such elements: they read f32.
   */
  BF8_B("bf8_b");

  private final String text;

  Packing(String text) {
    this.text = text;
  }

  /** The name in the text form. */
  public String text() {
    return text;
  }

  /** Returns the packing of a name. */
  public static Optional<Packing> of(String text) {
    return Arrays.stream(values()).filter(each -> each.text.equals(text)).findFirst();
  }

  /** Returns the elements of which each group is in whole bytes, without those of other groups. */
  public int granule() {
    return this == BF8_B ? BlockFloat.BLOCK : 1;
  }

  /**
   * Returns the bytes of elements in a row; also the offset of what follows them, where they are
   * whole granules.
   *
   * @param element the type of the elements
   */
  public long bytes(ElementType element, long elements) {
    return this == BF8_B ? BlockFloat.bytes(elements) : element.packedBytes(elements);
  }

  /**
   * Returns the bytes of a box that is stored row by row without gaps.
   *
   * @param extents outermost dimension first
   */
  public long bytes(ElementType element, List<Long> extents) {
    long elements = extents.stream().reduce(1L, Math::multiplyExact);
    if (this == PLAIN || extents.isEmpty()) {
      return bytes(element, elements);
    }
    return elements / extents.getLast() * bytes(element, extents.getLast());
  }
}
