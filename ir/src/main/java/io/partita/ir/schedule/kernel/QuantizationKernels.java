package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/** Kernels of {@code quantize.h}, and those of {@code integer_network.h} that requantize. */
final class QuantizationKernels {
  /** Types of x and the result, one of which is f32. */
  private static final KernelStruct QUANTIZE =
      KernelStruct.in("quantize.h", "quantize")
          .pointers("x", "scale", "zero", "out")
          .axes("extents", "parameter_strides")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                List<Step> parameters = all.steps("extents", "parameter_strides");
                all.add("x", READ, all.bits(0), contiguous(all.product("extents")));
                all.add("scale", READ, Float.SIZE, parameters);
                all.add("zero", READ, all.bits(2), parameters);
                all.add("out", WRITE, all.bits(1), contiguous(all.product("extents")));
              },
              call -> call.walk("extents"));

  /** Types of x and the result. */
  private static final KernelStruct REQUANTIZE =
      KernelStruct.in("integer_network.h", "requantize")
          .pointers("x", "multiplier", "addend", "out")
          .axes("extents", "multiplier_strides", "addend_strides")
          .longs("low", "high")
          .integers("shift")
          .requires("0 <= shift <= 62", Requantized::isShift)
          .shared(KernelStruct.PARTS)
          .inPlaceOf("x")
          .build(
              all -> {
                all.add("x", READ, all.bits(0), contiguous(all.product("extents")));
                all.add(
                    "multiplier", READ, Integer.SIZE, all.steps("extents", "multiplier_strides"));
                all.add("addend", READ, Integer.SIZE, all.steps("extents", "addend_strides"));
                all.add("out", WRITE, all.bits(1), contiguous(all.product("extents")));
              },
              call -> call.walk("extents"));

  /** The work counts as that of floats, on either side. */
  private static void add(
      KernelTable table,
      String name,
      ElementType from,
      ElementType to,
      ElementType zero,
      Kernel.Meaning meaning) {
    table.add(
        new Kernel(
            name,
            QUANTIZE,
            List.of(from, to, zero),
            KernelClass.ELEMENTWISE,
            ElementType.F32,
            true,
            meaning,
            Optional.empty()));
  }

  private static final List<ElementType> LEVELS =
      List.of(ElementType.I8, ElementType.U8, ElementType.I16, ElementType.U16, ElementType.I32);
  private static final List<ElementType> REQUANTIZED =
      List.of(ElementType.I8, ElementType.U8, ElementType.I32);

  /** The magnitude beyond which all types saturate. */
  private static final float MAX = 0x1p40f;

  private QuantizationKernels() {}

  static void add(KernelTable table) {
    for (ElementType element : LEVELS) {
      add(
          table,
          "quantize_f32_" + element,
          ElementType.F32,
          element,
          element,
          call -> quantize(call, element));
      add(
          table,
          "dequantize_" + element + "_f32",
          element,
          ElementType.F32,
          element,
          call -> dequantize(call, element));
    }
    for (ElementType from : REQUANTIZED) {
      for (ElementType to : REQUANTIZED) {
        table.add(
            REQUANTIZE,
            "requantize_" + from + "_" + to,
            KernelClass.ELEMENTWISE,
            List.of(from, to),
            call -> requantize(call, from, to));
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
      zero[i] = level(x[i], (float) scale[i], zero[i], element);
    }
    call.place("out").write(element, zero);
  }

  /** Returns {@code saturate(round(x / scale) + zero)}; the smallest number for NaN. */
  static long level(float x, float scale, long zero, ElementType element) {
    float quotient = x / scale;
    return Float.isNaN(quotient)
        ? element.minimum()
        : Math.clamp(
            (long) Math.rint(Math.clamp(quotient, -MAX, MAX)) + zero,
            element.minimum(),
            element.maximum());
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
