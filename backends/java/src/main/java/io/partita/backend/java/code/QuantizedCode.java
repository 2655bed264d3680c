package io.partita.backend.java.code;

import io.partita.ir.op.Quantized;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;

/** Loops that convert between floats and quantised integers. */
final class QuantizedCode {
  private final StepCode code;
  private final Body body;

  private QuantizedCode(StepCode code) {
    this.code = code;
    this.body = code.body;
  }

  static void emit(StepCode code, Quantized quantized) {
    QuantizedCode printer = new QuantizedCode(code);
    switch (quantized) {
      case Quantized.Quantize quantize -> printer.quantize(quantize);
      case Quantized.Dequantize dequantize -> printer.dequantize(dequantize);
    }
  }

  /** Opens loops over {@code [outer, extent, inner]}; returns the index of the parameters. */
  private String open(int axis, long block) {
    Shape x = code.shape(0);
    Shape scale = code.shape(1);
    if (scale.rank() == 0 || scale.elements() == 1 && block == 0) {
      body.open(LoopNest.loop("i", x.elements()));
      return "0";
    }
    long inner = x.range(axis + 1, x.rank()).elements();
    long extent = x.extent(axis);
    body.open(LoopNest.loop("i", x.elements()));
    String place = "i" + (inner == 1 ? "" : " / " + inner) + " % " + extent;
    if (block == 0) {
      body.line("int at = " + place);
    } else {
      long outer = inner * extent;
      body.line(
          "int at = (i / %s * %s + %s / %s) * %s + i %% %s"
              .formatted(outer, scale.extent(axis), place, block, inner, inner));
    }
    return "at";
  }

  private static boolean isWide(ElementType element) {
    return element == ElementType.F64;
  }

  private String toDouble(int operand, String index) {
    ElementType element = code.element(operand);
    Term term = code.load(code.node.operand(operand), index);
    return element == ElementType.U64
        ? code.call(ScalarKernels.UNSIGNED_TO_DOUBLE, term.text())
        : term.as("double").text();
  }

  private void quantize(Quantized.Quantize quantize) {
    if (code.shape(0).elements() == 0) {
      return;
    }
    String at = open(quantize.axis(), quantize.block());
    boolean wide = isWide(code.element(0)) || isWide(code.element(1));
    String quotient;
    if (code.element(0) == ElementType.F32 && code.element(1) == ElementType.F32) {
      quotient = code.load(0, "i") + " / " + code.load(1, at);
    } else {
      String division = toDouble(0, "i") + " / " + code.load(1, at);
      quotient = wide ? division : "(float) (" + division + ")";
    }
    ElementType to = quantize.to();
    String zero = toDouble(2, at);
    String value =
        to == ElementType.U64
            ? code.call(ROUND_UNSIGNED, quotient, zero)
            : code.call(ROUND, quotient, zero, to.minimum() + "L", to.maximum() + "L");
    boolean isLong = Elements.carrier(to).equals("long");
    code.store("i", isLong ? value : "(int) " + value);
    body.close();
  }

  private static final Kernel ROUND =
      Kernel.of(
          "Rounds half to even, adds the zero point and saturates; NaN gives the smallest number.",
          """
          static long quantized(double quotient, double zeroPoint, double low, double high) {
            double level = Math.rint(quotient) + zeroPoint;
            return (long) (level > low ? Math.min(high, level) : low);
          }
          """);

  private static final Kernel ROUND_UNSIGNED =
      Kernel.of(
          "Rounds half to even, adds the zero point and saturates to unsigned 64-bit integers.",
          """
          static long quantizedUnsigned(double quotient, double zeroPoint) {
            double value = Math.max(0, Math.rint(quotient) + zeroPoint);
            if (value >= 0x1p64) {
              return -1;
            }
            return value >= 0x1p63 ? (long) (value - 0x1p63) ^ Long.MIN_VALUE : (long) value;
          }
          """);

  private void dequantize(Quantized.Dequantize dequantize) {
    if (code.shape(0).elements() == 0) {
      return;
    }
    String at = open(dequantize.axis(), dequantize.block());
    ElementType to = dequantize.to();
    boolean wide = isWide(to) || isWide(code.element(1));
    boolean small = code.element(0).bits() <= 16;
    String difference =
        small
            ? "(" + code.load(0, "i") + " - " + code.load(2, at) + ")"
            : "(float) (" + toDouble(0, "i") + " - " + toDouble(2, at) + ")";
    if (wide && !small) {
      difference = "(" + toDouble(0, "i") + " - " + toDouble(2, at) + ")";
    }
    Term scale = code.load(code.node.operand(1), at);
    if (to == ElementType.F32 && code.element(1) == ElementType.F32) {
      code.store("i", difference + " * " + scale.text());
    } else {
      String product = difference + " * " + scale.as("double").text();
      code.store("i", to == ElementType.F32 ? "(float) (" + product + ")" : product);
    }
    body.close();
  }
}
