package io.partita.ir.type;

import java.util.Optional;

/**
 * The type of the elements of a tensor.
 *
 * <p>The text form, messages and emitted comments use {@link #text}.
 */
public enum ElementType {
  F64("f64", Kind.FLOAT, 64),
  F32("f32", Kind.FLOAT, 32),
  F16("f16", Kind.FLOAT, 16),
  BF16("bf16", Kind.FLOAT, 16),
  I64("i64", Kind.SIGNED, 64),
  I32("i32", Kind.SIGNED, 32),
  I16("i16", Kind.SIGNED, 16),
  I8("i8", Kind.SIGNED, 8),
  I4("i4", Kind.SIGNED, 4),
  U64("u64", Kind.UNSIGNED, 64),
  U32("u32", Kind.UNSIGNED, 32),
  U16("u16", Kind.UNSIGNED, 16),
  U8("u8", Kind.UNSIGNED, 8),
  U4("u4", Kind.UNSIGNED, 4),
  BOOL("bool", Kind.BOOLEAN, 8);

  /** The kind of values of an element type. */
  public enum Kind {
    FLOAT,
    SIGNED,
    UNSIGNED,
    BOOLEAN
  }

  private final String text;
  private final Kind kind;
  private final int bits;

  ElementType(String text, Kind kind, int bits) {
    this.text = text;
    this.kind = kind;
    this.bits = bits;
  }

  public String text() {
    return text;
  }

  public Kind kind() {
    return kind;
  }

  /**
   * Returns the bits of an element; 4 for {@link #I4} and {@link #U4}, which are packed in bytes.
   */
  public int bits() {
    return bits;
  }

  public boolean isFloat() {
    return kind == Kind.FLOAT;
  }

  /** Whether it is a signed or unsigned integer, but not {@code bool}. */
  public boolean isInteger() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
  }

  /** Whether it is an integer of 8 bits, but not {@code bool}. */
  public boolean isByte() {
    return isInteger() && bits == 8;
  }

  /** Returns the smallest value of an integer type. */
  public long minimum() {
    return kind == Kind.SIGNED ? -(1L << (bits - 1)) : 0;
  }

  /** Returns the largest value of an integer type, as the bits of a long: -1 for {@code u64}. */
  public long maximum() {
    return switch (kind) {
      case SIGNED -> (1L << (bits - 1)) - 1;
      case UNSIGNED -> bits == 64 ? -1L : (1L << bits) - 1;
      case BOOLEAN -> 1;
      case FLOAT -> throw new IllegalStateException(text + " is not an integer type");
    };
  }

  /** Returns the bytes of {@code elements} elements, with 4-bit types packed. */
  public long packedBytes(long elements) {
    return bits == 4 ? (elements + 1) / 2 : elements * (bits / 8);
  }

  public static Optional<ElementType> of(String text) {
    for (ElementType type : values()) {
      if (type.text.equals(text)) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return text;
  }
}
