package io.partita.backend.java.plan;

import io.partita.ir.type.ElementType;

/** The Java array types that store tensors. */
public enum Storage {
  FLOATS("float", 4),
  DOUBLES("double", 8),
  LONGS("long", 8),
  INTS("int", 4),
  SHORTS("short", 2),
  BYTES("byte", 1),
  BOOLEANS("boolean", 1);

  private final String primitive;
  private final int bytes;

  Storage(String primitive, int bytes) {
    this.primitive = primitive;
    this.bytes = bytes;
  }

  public String primitive() {
    return primitive;
  }

  /** The bytes of one element in the array; 4-bit elements take one byte each. */
  public int bytes() {
    return bytes;
  }

  public static Storage of(ElementType element) {
    return switch (element) {
      case F64 -> DOUBLES;
      case F32 -> FLOATS;
      case I64, U64 -> LONGS;
      case I32, U32 -> INTS;
      case F16, BF16, I16, U16 -> SHORTS;
      case I8, U8, I4, U4 -> BYTES;
      case BOOL -> BOOLEANS;
    };
  }
}
