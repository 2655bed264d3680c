package io.partita.ir.schedule.eval;

/**
 * Kernels of {@code softmax.h}, {@code norm.h} and {@code rotary.h}. Sums are in C's order;
 * exponentials and logarithms are rounded from those of double.
 */
final class LineMeaning {
  /** Sums have so many parts. */
  private static final int PARTS = 4;

  private LineMeaning() {}

  static void add(KernelTable table) {
    table.add("softmax_f32", "softmax", false, call -> softmax(call, false));
    table.add("log_softmax_f32", "softmax", false, call -> softmax(call, true));
    table.add("layer_norm_f32", "norm", call -> norm(call, true));
    table.add("rms_norm_f32", "norm", call -> norm(call, false));
    table.add("rotary_half_f32", "rotary", call -> rotary(call, 1, call.get("half")));
    table.add("rotary_interleaved_f32", "rotary", call -> rotary(call, 2, 1));
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

  /** Of x - shift, or of its squares. */
  private static float sum(float[] x, int from, int size, float shift, boolean squares) {
    float[] sums = new float[PARTS];
    for (int i = 0; i < size; i++) {
      float value = x[from + i] - shift;
      sums[i % PARTS] += squares ? value * value : value;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  private static void norm(KernelArguments call, boolean isCentred) {
    int rows = call.get("rows");
    int size = call.get("size");
    float[] values = call.place("x").floats(rows * size);
    Place scalePlace = call.place("scale");
    Place biasPlace = call.place("bias");
    float[] scale = scalePlace == null ? null : scalePlace.floats(size);
    float[] bias = biasPlace == null ? null : biasPlace.floats(size);
    for (int row = 0; row < rows; row++) {
      int from = row * size;
      float mean = isCentred ? sum(values, from, size, 0, false) / size : 0;
      float variance = sum(values, from, size, mean, true) / size;
      float inverse = 1 / (float) Math.sqrt(variance + call.number("epsilon"));
      for (int i = 0; i < size; i++) {
        float value = (values[from + i] - mean) * inverse;
        value = scale == null ? value : value * scale[i];
        values[from + i] = bias == null ? value : value + bias[i];
      }
    }
    call.place("out").write(values);
  }

  /** Features of pairs lie {@code step} apart, their partners {@code distance} behind. */
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
