package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * Kernels of {@code softmax.h}, {@code norm.h} and {@code rotary.h}. Sums are in C's order;
 * exponentials and logarithms are computed in double and rounded.
 */
final class LineKernels {
  private static final List<ElementType> FLOATS = List.of(ElementType.F32);

  private static final KernelStruct SOFTMAX =
      KernelStruct.in("softmax.h", "softmax")
          .pointers("x", "out")
          .integers("outer", "extent", "inner")
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("outer", "extent", "inner"));
                all.add("out", WRITE, all.bits(0), all.vector("outer", "extent", "inner"));
              },
              call -> CallWork.lines(call.product("outer", "inner"), call.get("extent"), 1));

  private static final KernelStruct NORM =
      KernelStruct.in("norm.h", "norm")
          .pointers("x", "scale", "bias", "out")
          .integers("rows", "size")
          .floats("epsilon")
          .build(
              all -> {
                all.optional("scale", READ, all.bits(0), all.vector("size"));
                all.optional("bias", READ, all.bits(0), all.vector("size"));
                all.elements(all.bits(0), all.bits(0), all.get("rows") * all.get("size"));
              },
              call -> CallWork.lines(call.get("rows"), call.get("size"), 1));

  private static final int PARTS = KernelStruct.NORM_PARTS;

  private static final KernelStruct NORM_SUMS =
      KernelStruct.in("norm.h", "norm_sums")
          .pointers("x", "elements", "out")
          .integers("rows", "size")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("rows", "size"));
                all.optional("elements", READ, all.bits(0), contiguous(all.get("rows"), PARTS));
                all.add("out", WRITE, all.bits(0), contiguous(all.get("rows"), PARTS));
              },
              call -> CallWork.lines(call.get("rows"), call.get("size"), 1));

  private static final KernelStruct NORM_BY_SUMS =
      KernelStruct.in("norm.h", "norm_by_sums")
          .pointers("x", "elements", "squares", "scale", "bias", "out")
          .integers("rows", "size")
          .floats("epsilon")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.optional("elements", READ, all.bits(0), contiguous(all.get("rows"), PARTS));
                all.add("squares", READ, all.bits(0), contiguous(all.get("rows"), PARTS));
                all.optional("scale", READ, all.bits(0), all.vector("size"));
                all.optional("bias", READ, all.bits(0), all.vector("size"));
                all.elements(all.bits(0), all.bits(0), all.get("rows") * all.get("size"));
              },
              call -> CallWork.lines(call.get("rows"), call.get("size"), 1));

  private static final KernelStruct NORM_QUANTIZE =
      KernelStruct.in("norm.h", "norm_quantize")
          .pointers("x", "squares", "scale", "step", "zero", "out")
          .integers("rows", "size")
          .floats("epsilon")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("rows", "size"));
                all.add("squares", READ, all.bits(0), contiguous(all.get("rows"), PARTS));
                all.add("scale", READ, all.bits(0), all.vector("size"));
                all.add("step", READ, all.bits(0), contiguous(1));
                all.add("zero", READ, all.bits(1), contiguous(1));
                all.add("out", WRITE, all.bits(1), all.vector("rows", "size"));
              },
              call -> CallWork.lines(call.get("rows"), call.get("size"), 1));

  private static final KernelStruct ROTARY =
      KernelStruct.in("rotary.h", "rotary")
          .pointers("x", "cosines", "sines", "out")
          .integers("heads", "seq", "d", "half", "head_stride", "seq_stride")
          .build(
              all -> {
                List<Step> steps =
                    List.of(
                        all.step("heads", "head_stride"),
                        all.step("seq", "seq_stride"),
                        all.line("d"));
                all.add("x", READ, all.bits(0), steps);
                all.add("cosines", READ, all.bits(0), all.vector("seq", "half"));
                all.add("sines", READ, all.bits(0), all.vector("seq", "half"));
                all.add("out", WRITE, all.bits(0), steps);
              },
              call -> CallWork.lines(call.product("heads", "seq"), call.get("d"), 3));

  private LineKernels() {}

  static void add(KernelTable table) {
    for (boolean isLogarithm : new boolean[] {false, true}) {
      table.add(
          SOFTMAX,
          isLogarithm ? "log_softmax_f32" : "softmax_f32",
          KernelClass.SOFTMAX,
          FLOATS,
          false,
          call -> softmax(call, isLogarithm));
    }
    table.add(NORM, "layer_norm_f32", KernelClass.NORM, FLOATS, call -> norm(call, true));
    table.add(NORM, "rms_norm_f32", KernelClass.NORM, FLOATS, call -> norm(call, false));
    table.add(NORM_SUMS, "norm_sums_f32", KernelClass.NORM, FLOATS, call -> sums(call, false));
    table.add(NORM_SUMS, "norm_squares_f32", KernelClass.NORM, FLOATS, call -> sums(call, true));
    table.add(NORM_BY_SUMS, "norm_by_sums_f32", KernelClass.NORM, FLOATS, LineKernels::normBySums);
    for (ElementType levels : List.of(ElementType.I8, ElementType.U8)) {
      table.add(
          NORM_QUANTIZE,
          "rms_norm_quantize_f32_" + levels,
          KernelClass.NORM,
          List.of(ElementType.F32, levels),
          call -> normQuantize(call, levels));
    }
    table.add(
        ROTARY,
        "rotary_half_f32",
        KernelClass.ELEMENTWISE,
        FLOATS,
        call -> rotary(call, 1, call.get("half")));
    table.add(
        ROTARY,
        "rotary_interleaved_f32",
        KernelClass.ELEMENTWISE,
        FLOATS,
        call -> rotary(call, 2, 1));
  }

  private static void softmax(KernelArguments call, boolean isLogarithm) {
    int outer = call.get("outer");
    int extent = call.get("extent");
    int inner = call.get("inner");
    float[] values = call.place("x").floats(outer * extent * inner);
    for (int line = 0; line < outer * inner; line++) {
      int start = line / inner * extent * inner + line % inner;
      int end = start + extent * inner;
      float top = Float.NEGATIVE_INFINITY;
      for (int at = start; at < end; at += inner) {
        top = values[at] > top || Float.isNaN(values[at]) ? values[at] : top;
      }
      float sum = 0;
      for (int at = start; at < end; at += inner) {
        float exponential = (float) Math.exp(values[at] - top);
        sum += exponential;
        values[at] = isLogarithm ? values[at] : exponential;
      }
      float inverse = 1 / sum;
      float logarithm = isLogarithm ? (float) Math.log(sum) : 0;
      for (int at = start; at < end; at += inner) {
        values[at] = isLogarithm ? values[at] - top - logarithm : values[at] * inverse;
      }
    }
    call.place("out").write(values);
  }

  /**
   * Returns the parts of the sum of x - shift, or of its squares, and that of the last elements.
   */
  private static float[] parts(float[] x, int from, int size, float shift, boolean squares) {
    float[] sums = new float[PARTS + 1];
    for (int i = 0; i < size; i++) {
      float value = x[from + i] - shift;
      sums[i < size - size % PARTS ? i % PARTS : PARTS] += squares ? value * value : value;
    }
    return sums;
  }

  private static float sum(float[] parts) {
    return ((parts[0] + parts[1]) + (parts[2] + parts[3]))
        + ((parts[4] + parts[5]) + (parts[6] + parts[7]))
        + parts[PARTS];
  }

  private static void norm(KernelArguments call, boolean isCentred) {
    norm(
        call,
        (x, from, size) -> isCentred ? sum(parts(x, from, size, 0, false)) / size : 0,
        (x, from, size, mean) -> sum(parts(x, from, size, mean, true)));
  }

  /** The sum of a row's elements or squares, of parts that were computed before. */
  private static float sumOf(
      Place parts, float[] x, int from, int size, float shift, boolean squares) {
    float[] all = parts(x, from, size, shift, squares);
    System.arraycopy(
        parts.plus((long) Float.BYTES * PARTS * (from / size)).floats(PARTS), 0, all, 0, PARTS);
    return sum(all);
  }

  private static float meanOf(KernelArguments call, float[] x, int from, int size) {
    Place elements = call.place("elements");
    return elements == null ? 0 : sumOf(elements, x, from, size, 0, false) / size;
  }

  private static void sums(KernelArguments call, boolean areSquares) {
    int rows = call.get("rows");
    int size = call.get("size");
    float[] x = call.place("x").floats(rows * size);
    float[] out = new float[rows * PARTS];
    for (int row = 0; row < rows; row++) {
      int from = row * size;
      float mean = areSquares ? meanOf(call, x, from, size) : 0;
      System.arraycopy(parts(x, from, size, mean, areSquares), 0, out, row * PARTS, PARTS);
    }
    call.place("out").write(out);
  }

  private static void normBySums(KernelArguments call) {
    norm(
        call,
        (x, from, size) -> meanOf(call, x, from, size),
        (x, from, size, mean) -> sumOf(call.place("squares"), x, from, size, mean, true));
  }

  private static void normQuantize(KernelArguments call, ElementType levels) {
    float[] values =
        normalized(
            call,
            call.place("scale"),
            null,
            (x, from, size) -> 0,
            (x, from, size, mean) -> sumOf(call.place("squares"), x, from, size, mean, true));
    float step = call.place("step").floatAt(0);
    long zero = call.place("zero").longs(levels, 1)[0];
    long[] out = new long[values.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = QuantizationKernels.level(values[i], step, zero, levels);
    }
    call.place("out").write(levels, out);
  }

  private interface Mean {
    float of(float[] x, int from, int size);
  }

  private interface Squares {
    float of(float[] x, int from, int size, float mean);
  }

  private static void norm(KernelArguments call, Mean means, Squares squares) {
    call.place("out")
        .write(normalized(call, call.place("scale"), call.place("bias"), means, squares));
  }

  /**
   * @param scalePlace null for a norm without it; {@code biasPlace} too
   */
  private static float[] normalized(
      KernelArguments call, Place scalePlace, Place biasPlace, Mean means, Squares squares) {
    int rows = call.get("rows");
    int size = call.get("size");
    float[] values = call.place("x").floats(rows * size);
    float[] scale = scalePlace == null ? null : scalePlace.floats(size);
    float[] bias = biasPlace == null ? null : biasPlace.floats(size);
    for (int row = 0; row < rows; row++) {
      int from = row * size;
      float mean = means.of(values, from, size);
      float variance = squares.of(values, from, size, mean) / size;
      float inverse = 1 / (float) Math.sqrt(variance + call.number("epsilon"));
      for (int i = 0; i < size; i++) {
        float value = (values[from + i] - mean) * inverse;
        value = scale == null ? value : value * scale[i];
        values[from + i] = bias == null ? value : value + bias[i];
      }
    }
    return values;
  }

  /**
   * The first features of pairs are {@code step} apart, and their partners {@code distance} after
   * them.
   */
  private static void rotary(KernelArguments call, int step, int distance) {
    int heads = call.get("heads");
    int seq = call.get("seq");
    int d = call.get("d");
    int half = call.get("half");
    Place cosines = call.place("cosines");
    Place sines = call.place("sines");
    for (int vector = 0; vector < heads * seq; vector++) {
      int position = vector % seq;
      long start =
          (long) vector / seq * call.get("head_stride") + (long) position * call.get("seq_stride");
      Place out = call.place("out").plus(Float.BYTES * start);
      float[] values = call.place("x").plus(Float.BYTES * start).floats(d);
      for (int i = 0; i < half; i++) {
        float a = values[i * step];
        float b = values[i * step + distance];
        float c = cosines.floatAt(position * half + i);
        float s = sines.floatAt(position * half + i);
        values[i * step] = a * c - b * s;
        values[i * step + distance] = b * c + a * s;
      }
      out.write(values);
    }
  }
}
