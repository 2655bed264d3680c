package io.partita.ir.type;

import java.util.Optional;

/**
 * The type of one element of a tensor.
 *
 * <p>The text name ({@link #text}) is what the {@code .pir} form, messages and emitted comments
 * use.
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

  /** What values an element type holds. */
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

  /** Bits of one element; 4 for {@link #I4} and {@link #U4}, which are stored two to a byte. */
  public int bits() {
    return bits;
  }

  public boolean isFloat() {
    return kind == Kind.FLOAT;
  }

  /** Signed or unsigned integer; {@code bool} is not one. */
  public boolean isInteger() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
  }

  /** The smallest value of an integer type. {@code u64} gives 0. */
  public long minimum() {
    return kind == Kind.SIGNED ? -(1L << (bits - 1)) : 0;
  }

  /** The largest value of an integer type, as the bit pattern of a long: {@code u64} gives -1. */
  public long maximum() {
    return switch (kind) {
      case SIGNED -> (1L << (bits - 1)) - 1;
      case UNSIGNED -> bits == 64 ? -1L : (1L << bits) - 1;
      case BOOLEAN -> 1;
      case FLOAT -> throw new IllegalStateException(text + " is not an integer type");
    };
  }

  /** Bytes that {@code elements} elements take, 4-bit types two to a byte. */
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
