package io.partita.ir.schedule.eval;

import io.partita.ir.type.ElementType;
import java.util.List;

/** Kernels of {@code quantize.h}, and those of {@code integer_network.h} that requantize. */
final class QuantizationMeaning {
  private static final List<ElementType> LEVELS =
      List.of(ElementType.I8, ElementType.U8, ElementType.I16, ElementType.U16, ElementType.I32);
  private static final List<ElementType> REQUANTIZED =
      List.of(ElementType.I8, ElementType.U8, ElementType.I32);

  /** Beyond it all saturate. */
  private static final float MOST = 0x1p40f;

  private QuantizationMeaning() {}

  static void add(KernelTable table) {
    for (ElementType element : LEVELS) {
      table.add("quantize_f32_" + element, "quantize", call -> quantize(call, element));
      table.add("dequantize_" + element + "_f32", "quantize", call -> dequantize(call, element));
    }
    for (ElementType from : REQUANTIZED) {
      for (ElementType to : REQUANTIZED) {
        table.add(
            "requantize_" + from + "_" + to, "requantize", call -> requantize(call, from, to));
      }
    }
  }

  private static void quantize(KernelArguments call, ElementType element) {
    int[] extents = call.integers("extents");
    int[] strides = call.integers("parameter_strides");
    float[] x = call.place("x").floats(Grid.elements(extents));
    double[] scale = call.place("scale").doubles(ElementType.F32, extents, strides);
    long[] zero = call.place("zero").longs(element, extents, strides);
    for (int i = 0; i < x.length; i++) {
      float quotient = x[i] / (float) scale[i];
      zero[i] =
          Float.isNaN(quotient)
              ? element.minimum()
              : Math.clamp(
                  (long) Math.rint(Math.clamp(quotient, -MOST, MOST)) + zero[i],
                  element.minimum(),
                  element.maximum());
    }
    call.place("out").write(element, zero);
  }

  private static void dequantize(KernelArguments call, ElementType element) {
    int[] extents = call.integers("extents");
    int[] strides = call.integers("parameter_strides");
    long[] x = call.place("x").longs(element, Grid.elements(extents));
    double[] scale = call.place("scale").doubles(ElementType.F32, extents, strides);
    long[] zero = call.place("zero").longs(element, extents, strides);
    float[] values = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      values[i] = (float) (x[i] - zero[i]) * (float) scale[i];
    }
    call.place("out").write(values);
  }

  private static void requantize(KernelArguments call, ElementType from, ElementType to) {
    int[] extents = call.integers("extents");
    Requantized requantized = Requantized.of(call);
    long[] x = call.place("x").longs(from, Grid.elements(extents));
    long[] multiplier =
        call.place("multiplier")
            .longs(ElementType.I32, extents, call.integers("multiplier_strides"));
    long[] addend =
        call.place("addend").longs(ElementType.I32, extents, call.integers("addend_strides"));
    for (int i = 0; i < x.length; i++) {
      x[i] = requantized.at(x[i], multiplier[i], addend[i]);
    }
    call.place("out").write(to, x);
  }
}
