package io.partita.ir.type;

import java.util.Map;

/** The element type and shape of a value. */
public record TensorType(ElementType element, Shape shape) {
  public static final int MAX_DIMENSIONS = 64;
  private static final long MAX_ELEMENTS = 1L << 60;

  public static TensorType of(ElementType element, long... extents) {
    return new TensorType(element, Shape.of(extents));
  }

  public static TensorType scalar(ElementType element) {
    return new TensorType(element, Shape.SCALAR);
  }

  public int rank() {
    return shape.rank();
  }

  public Dim dim(int axis) {
    return shape.dim(axis);
  }

  public boolean isStatic() {
    return shape.isStatic();
  }

  /**
   * Whether a tensor of this type can exist: with at most {@value #MAX_DIMENSIONS} dimensions, none
   * of them negative, and fewer than 2^60 elements, so that elements and bytes can be counted.
   */
  public boolean isPossible() {
    long elements = 1;
    for (Dim dim : shape) {
      long extent = dim.isStatic() ? dim.value() : 1;
      if (extent < 0 || extent > 0 && elements >= MAX_ELEMENTS / extent) {
        return false;
      }
      elements *= Math.max(extent, 1);
    }
    return rank() <= MAX_DIMENSIONS;
  }

  public TensorType with(Shape changed) {
    return new TensorType(element, changed);
  }

  public TensorType with(ElementType changed) {
    return new TensorType(changed, shape);
  }

  public TensorType bind(Map<String, Dim> extents) {
    return isStatic() ? this : new TensorType(element, shape.bind(extents));
  }

  /** Returns the bytes in a file or on a device, with 4-bit elements packed. */
  public long bytes() {
    return element.packedBytes(shape.elements());
  }

  /** {@code f32[1,seq,64]}. */
  @Override
  public String toString() {
    return element.text() + shape;
  }
}
