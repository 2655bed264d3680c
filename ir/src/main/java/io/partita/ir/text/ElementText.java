package io.partita.ir.text;

import io.partita.ir.tensor.Float16;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The text of elements of constants: the shortest decimal that parses to the same bits, {@code
 * inf}, {@code nan}, and {@code nan:0x7fc00001} for any other bits of a NaN.
 */
final class ElementText {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The largest length of a number, more than any exact element needs. */
  private static final int MAX_DIGITS = 2000;

  private ElementText() {}

  static String write(Tensor tensor, int index) {
    MemorySegment data = tensor.bytes();
    return switch (tensor.element()) {
      case F64 -> write64(data.getAtIndex(LONG, index));
      case F32 -> write32(data.getAtIndex(INT, index));
      case F16, BF16 -> write16(tensor.element(), data.getAtIndex(SHORT, index));
      case U64 -> Long.toUnsignedString(tensor.getLong(index));
      case BOOL -> tensor.getBoolean(index) ? "true" : "false";
      case I64, I32, I16, I8, I4, U32, U16, U8, U4 -> Long.toString(tensor.getLong(index));
    };
  }

  private static String write64(long bits) {
    double value = Double.longBitsToDouble(bits);
    return Double.isFinite(value)
        ? Double.toString(value)
        : special(value, bits, 0x7ff8000000000000L, 16);
  }

  static String write32(float value) {
    return write32(Float.floatToRawIntBits(value));
  }

  private static String write32(int bits) {
    float value = Float.intBitsToFloat(bits);
    return Float.isFinite(value)
        ? Float.toString(value)
        : special(value, Integer.toUnsignedLong(bits), 0x7fc00000L, 8);
  }

  private static String write16(ElementType element, short bits) {
    boolean half = element == ElementType.F16;
    float value = half ? Float16.fromHalf(bits) : Float16.fromBfloat(bits);
    if (!Float.isFinite(value)) {
      return special(value, Short.toUnsignedLong(bits), half ? 0x7e00 : 0x7fc0, 4);
    }
    // 11 significant bits: five digits are always enough.
    BigDecimal exact = new BigDecimal((double) value);
    for (int digits = 1; digits < 6; digits++) {
      double rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN)).doubleValue();
      double signed = Math.copySign(rounded, value);
      if ((half ? Float16.toHalf(signed) : Float16.toBfloat(signed)) == bits) {
        return Double.toString(signed);
      }
    }
    return Double.toString(value);
  }

  private static String special(double value, long bits, long plainNan, int digits) {
    if (!Double.isNaN(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    return bits == plainNan ? "nan" : "nan:0x" + HexFormat.of().toHexDigits(bits, digits);
  }

  /**
   * Parses an element; returns its bits in the lower bits of a long.
   *
   * @throws NumberFormatException if the text isn't a value of that type
   */
  static long read(ElementType element, String text) {
    if (text.length() > MAX_DIGITS) {
      throw new NumberFormatException();
    }
    return switch (element) {
      case F64, F32, F16, BF16 -> readFloat(element, text);
      case BOOL -> {
        if (!text.equals("true") && !text.equals("false")) {
          throw new NumberFormatException();
        }
        yield text.equals("true") ? 1 : 0;
      }
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4 -> {
        BigInteger value = new BigInteger(text);
        BigInteger largest = new BigInteger(Long.toUnsignedString(element.maximum()));
        if (value.compareTo(BigInteger.valueOf(element.minimum())) < 0
            || value.compareTo(largest) > 0) {
          throw new NumberFormatException();
        }
        yield value.longValue();
      }
    };
  }

  private static long readFloat(ElementType element, String text) {
    if (text.startsWith("nan:0x")) {
      return readNan(element, text.substring(6));
    }
    boolean finite = false;
    double value =
        switch (text) {
          case "inf" -> Double.POSITIVE_INFINITY;
          case "-inf" -> Double.NEGATIVE_INFINITY;
          case "nan" -> Double.NaN;
          default -> {
            finite = true;
            yield decimal(text);
          }
        };
    long bits =
        switch (element) {
          case F64 -> Double.doubleToRawLongBits(value);
          // Not through double, which would round twice.
          case F32 -> Float.floatToRawIntBits(finite ? Float.parseFloat(text) : (float) value);
          case F16 -> Double.isNaN(value) ? 0x7e00 : Float16.toHalf(value);
          case BF16 -> Float16.toBfloat(value);
          case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
              throw new NumberFormatException();
        };
    if (finite && !Double.isFinite(value(element, bits))) {
      throw new NumberFormatException();
    }
    return bits;
  }

  /** Java's own parser also takes {@code NaN}, {@code 1f} and hexadecimal digits. */
  private static double decimal(String text) {
    if (!text.matches("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
      throw new NumberFormatException();
    }
    return Double.parseDouble(text);
  }

  private static long readNan(ElementType element, String digits) {
    if (digits.length() != element.bits() / 4) {
      throw new NumberFormatException();
    }
    long bits = Long.parseUnsignedLong(digits, 16);
    if (!Double.isNaN(value(element, bits))) {
      throw new NumberFormatException();
    }
    return bits;
  }

  private static double value(ElementType element, long bits) {
    return tensor(TensorType.scalar(element), new long[] {bits}).getDouble(0);
  }

  /** Returns a tensor of elements with these bits. */
  static Tensor tensor(TensorType type, long[] bits) {
    ElementType element = type.element();
    byte[] bytes = new byte[Math.toIntExact(element.packedBytes(bits.length))];
    for (int i = 0; i < bits.length; i++) {
      if (element.bits() == 4) {
        bytes[i / 2] |= (byte) ((bits[i] & 0xf) << (4 * (i & 1)));
      } else {
        int width = element.bits() / 8;
        for (int part = 0; part < width; part++) {
          bytes[i * width + part] = (byte) (bits[i] >>> (8 * part));
        }
      }
    }
    return Tensor.of(type, MemorySegment.ofArray(bytes));
  }

  /**
   * Whether the bits are canonical, as {@link #read} returns: no stray bit in a bool or after a u4.
   */
  static boolean isPlain(Tensor tensor) {
    return switch (tensor.element()) {
      case BOOL, I4, U4 -> tensor.equals(tensor(tensor.type(), tensor.longs()));
      case F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 -> true;
    };
  }
}
