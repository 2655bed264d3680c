package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;

/**
 * How elements are represented in computation: the carrier type, and the Java that loads an element
 * from an array and stores it. 16-bit floats are carried as double, so that they round once;
 * integers of up to 32 bits except {@code u32} as int; {@code u32} and 64-bit integers as long.
 */
final class Elements {
  private Elements() {}

  static String primitive(ElementType element) {
    return Storage.of(element).primitive();
  }

  static String carrier(ElementType element) {
    return switch (element) {
      case F64, F16, BF16 -> "double";
      case F32 -> "float";
      case I64, U64, U32 -> "long";
      case I32, I16, I8, I4, U16, U8, U4 -> "int";
      case BOOL -> "boolean";
    };
  }

  /** The value of the array element {@code at}, as a carrier. */
  static String load(Kernels kernels, ElementType element, String at) {
    return switch (element) {
      case F64, F32, I64, U64, I32, I16, I8, I4, U4, BOOL -> at;
      case F16 -> kernels.use(ScalarKernels.FROM_HALF) + "(" + at + ")";
      case BF16 -> kernels.use(ScalarKernels.FROM_BFLOAT) + "(" + at + ")";
      case U32 -> "(" + at + " & 0xffffffffL)";
      case U16 -> "(" + at + " & 0xffff)";
      case U8 -> "(" + at + " & 0xff)";
    };
  }

  /** An element of an array, as a carrier. */
  static Term loadTerm(Kernels kernels, ElementType element, String array, String index) {
    return new Term(load(kernels, element, array + "[" + index + "]"), loadedType(element));
  }

  /** The carrier {@code value} as an array element; integers wrap, floats round. */
  static String store(Kernels kernels, ElementType element, String value) {
    return switch (element) {
      case F64, F32, I64, U64, I32, BOOL -> value;
      case F16 -> kernels.use(ScalarKernels.TO_HALF) + "(" + value + ")";
      case BF16 -> kernels.use(ScalarKernels.TO_BFLOAT) + "(" + value + ")";
      case U32 -> "(int) (" + value + ")";
      case I16, U16 -> "(short) (" + value + ")";
      case I8, U8 -> "(byte) (" + value + ")";
      case I4 -> "(byte) ((" + value + ") << 28 >> 28)";
      case U4 -> "(byte) ((" + value + ") & 0xf)";
    };
  }

  /** The Java type of {@link #load}'s result. */
  static String loadedType(ElementType element) {
    return switch (element) {
      case I16 -> "short";
      case I8, I4, U4 -> "byte";
      case F64, F32, F16, BF16, I64, I32, U64, U32, U16, U8, BOOL -> carrier(element);
    };
  }

  /** Like {@link #store}, but of a term whose type may allow a simpler conversion. */
  static String store(Kernels kernels, ElementType element, Term value) {
    if (element == ElementType.BF16 && value.type().equals("float")) {
      return kernels.use(ScalarKernels.TO_BFLOAT_FROM_FLOAT) + "(" + value.text() + ")";
    }
    boolean whole = element.bits() == 8 || element.bits() == 16;
    return whole && !element.isFloat() && value.type().equals(primitive(element))
        ? value.text()
        : store(kernels, element, value.text());
  }

  /** A term rounded or wrapped as if stored and loaded again, in parentheses if needed. */
  static Term rounded(Kernels kernels, ElementType element, Term term) {
    String value = term.text();
    return switch (element) {
      case F64, F32, I64, U64, I32, BOOL -> new Term("(" + value + ")", term.type());
      case F16, BF16 -> new Term(load(kernels, element, store(kernels, element, term)), "double");
      case U32 -> new Term("((" + value + ") & 0xffffffffL)", "long");
      case U16 -> new Term("((" + value + ") & 0xffff)", "int");
      case U8 -> new Term("((" + value + ") & 0xff)", "int");
      case I16 -> new Term("(" + value + ")", term.type()).as("short");
      case I8 -> new Term("(" + value + ")", term.type()).as("byte");
      case I4 -> new Term("((" + value + ") << 28 >> 28)", "int");
      case U4 -> new Term("((" + value + ") & 0xf)", "int");
    };
  }

  /** A literal as {@link #load} would give it. */
  static Term literalTerm(ElementType element, Tensor scalar) {
    String text =
        element.isFloat()
            ? literal(element, scalar.getDouble(0))
            : literal(element, scalar.getLong(0));
    String type = loadedType(element);
    return type.equals(carrier(element))
        ? new Term(text, type)
        : new Term("(" + type + ") " + text, type);
  }

  /** A literal of the carrier type for an integer or boolean value. */
  static String literal(ElementType element, long value) {
    return switch (element) {
      case BOOL -> value != 0 ? "true" : "false";
      case I64, U64, U32 -> value == Long.MIN_VALUE ? "Long.MIN_VALUE" : value + "L";
      case I32, I16, I8, I4, U16, U8, U4 ->
          value == Integer.MIN_VALUE ? "Integer.MIN_VALUE" : Long.toString(value);
      case F64, F32, F16, BF16 -> literal(element, (double) value);
    };
  }

  /** A literal of the carrier type for a float value that the type can hold. */
  static String literal(ElementType element, double value) {
    if (element == ElementType.F32) {
      return floatLiteral((float) value);
    }
    if (!element.isFloat()) {
      return literal(element, (long) value);
    }
    return doubleLiteral(value);
  }

  static String floatLiteral(float value) {
    if (Float.isNaN(value)) {
      return "Float.NaN";
    }
    if (Float.isInfinite(value)) {
      return value > 0 ? "Float.POSITIVE_INFINITY" : "Float.NEGATIVE_INFINITY";
    }
    return value + "f";
  }

  static String doubleLiteral(double value) {
    if (Double.isNaN(value)) {
      return "Double.NaN";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "Double.POSITIVE_INFINITY" : "Double.NEGATIVE_INFINITY";
    }
    return Double.toString(value);
  }

  /** The smallest value of the carrier that the type holds, for a running maximum. */
  static String lowest(ElementType element) {
    return switch (element) {
      case F64, F16, BF16 -> "Double.NEGATIVE_INFINITY";
      case F32 -> "Float.NEGATIVE_INFINITY";
      case BOOL -> "false";
      case I64, U64, U32, I32, I16, I8, I4, U16, U8, U4 -> literal(element, element.minimum());
    };
  }

  /** The largest value of the carrier that the type holds, for a running minimum. */
  static String highest(ElementType element) {
    return switch (element) {
      case F64, F16, BF16 -> "Double.POSITIVE_INFINITY";
      case F32 -> "Float.POSITIVE_INFINITY";
      case BOOL -> "true";
      case I64, U64, U32, I32, I16, I8, I4, U16, U8, U4 -> literal(element, element.maximum());
    };
  }
}
