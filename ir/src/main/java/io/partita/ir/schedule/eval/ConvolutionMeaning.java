package io.partita.ir.schedule.eval;

import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * Kernels of {@code convolution.h}. Each element of a result has its sum in the order of channels,
 * rows and columns of the window, as in C; padding is left out.
 */
final class ConvolutionMeaning {
  private ConvolutionMeaning() {}

  static void add(KernelTable table) {
    table.add("convolution_f32", "convolution", ConvolutionMeaning::floats);
    for (ElementType x : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
      integers(table, x, ElementType.I8);
    }
    integers(table, ElementType.I32, ElementType.I32);
    for (ElementType x : List.of(ElementType.I8, ElementType.U8)) {
      for (ElementType out : List.of(ElementType.I8, ElementType.U8)) {
        table.add(
            "convolution_requantize_" + x + "_i8_" + out,
            "convolution_requantize",
            call -> requantized(call, x, out));
      }
    }
    table.add("mean_pool_f32", "mean_pool", ConvolutionMeaning::meanPool);
    table.add("max_pool_f32", "max_pool", ConvolutionMeaning::maxPoolOfFloats);
    for (ElementType element : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
      table.add("max_pool_" + element, "max_pool", call -> maxPool(call, element));
    }
  }

  private static void integers(KernelTable table, ElementType x, ElementType weight) {
    table.add(
        "convolution_" + x + "_" + weight,
        "convolution",
        call ->
            integers(
                call,
                x,
                weight,
                (row, filter, sums) ->
                    call.place("out").plus((long) Integer.BYTES * row).write(sums)));
  }

  /** One spatial axis of a window. */
  private record Span(int kernel, int dilation, int extent) {
    /** The first element of a window that lies over data. */
    int from(int origin) {
      return origin >= 0 ? 0 : Math.min(kernel, Math.ceilDiv(-origin, dilation));
    }

    /** The one after the last. */
    int to(int origin) {
      int to = kernel;
      while (to > from(origin) && origin + (to - 1) * dilation >= extent) {
        to--;
      }
      return to;
    }
  }

  /** The fields of {@code struct partita_window}. */
  private record Window(
      Span down,
      Span across,
      int outHeight,
      int outWidth,
      int strideY,
      int strideX,
      int lowY,
      int lowX,
      int highY,
      int highX) {
    static Window of(KernelArguments call) {
      KernelArguments window = call.within("window");
      return new Window(
          new Span(window.get("kernel_y"), window.get("dilation_y"), window.get("height")),
          new Span(window.get("kernel_x"), window.get("dilation_x"), window.get("width")),
          window.get("out_height"),
          window.get("out_width"),
          window.get("stride_y"),
          window.get("stride_x"),
          window.get("low_y"),
          window.get("low_x"),
          window.get("high_y"),
          window.get("high_x"));
    }

    int height() {
      return down.extent;
    }

    int width() {
      return across.extent;
    }

    int plane() {
      return height() * width();
    }

    int elements() {
      return down.kernel * across.kernel;
    }

    /** The first place of a row whose window's column {@code kx} lies over data. */
    int firstPlace(int kx) {
      int at = kx * across.dilation - lowX;
      return at >= 0 ? 0 : Math.min(outWidth, Math.ceilDiv(-at, strideX));
    }

    /** The place after the last one. */
    int endPlace(int kx) {
      int room = width() - 1 - (kx * across.dilation - lowX);
      return room < 0 ? 0 : Math.min(outWidth, room / strideX + 1);
    }
  }

  /** A stretch of a row of the result that one element of a filter contributes to. */
  @FunctionalInterface
  private interface Products {
    /**
     * @param x of the data for the first place
     * @param weight of the filter's element
     */
    void add(int from, int to, int x, int stride, int weight);
  }

  /** Goes through the filter's elements in order, for one row of the result. */
  private static void row(KernelArguments call, Window window, int row, Products products) {
    int filters = call.get("filters");
    int channels = call.get("channels");
    int groups = call.get("groups");
    int filter = row / window.outHeight % filters;
    int image = row / window.outHeight / filters;
    int plane = (image * groups + filter / (filters / groups)) * channels;
    int top = row % window.outHeight * window.strideY - window.lowY;
    for (int channel = 0; channel < channels; channel++) {
      int data = (plane + channel) * window.plane();
      int weight = (filter * channels + channel) * window.elements();
      for (int ky = window.down.from(top); ky < window.down.to(top); ky++) {
        int line = data + (top + ky * window.down.dilation) * window.width();
        for (int kx = 0; kx < window.across.kernel; kx++) {
          int from = window.firstPlace(kx);
          int to = window.endPlace(kx);
          if (from < to) {
            int x = line + from * window.strideX + kx * window.across.dilation - window.lowX;
            products.add(from, to, x, window.strideX, weight + ky * window.across.kernel + kx);
          }
        }
      }
    }
  }

  private static int rows(KernelArguments call, Window window) {
    return call.get("batch") * call.get("filters") * window.outHeight;
  }

  private static int dataSize(KernelArguments call, Window window) {
    return call.get("batch") * call.get("groups") * call.get("channels") * window.plane();
  }

  private static int weightSize(KernelArguments call, Window window) {
    return call.get("filters") * call.get("channels") * window.elements();
  }

  private static void floats(KernelArguments call) {
    Window window = Window.of(call);
    float[] x = call.place("x").floats(dataSize(call, window));
    float[] weight = call.place("weight").floats(weightSize(call, window));
    Place bias = call.place("bias");
    Place out = call.place("out");
    for (int row = 0; row < rows(call, window); row++) {
      float[] sums = new float[window.outWidth];
      row(
          call,
          window,
          row,
          (from, to, data, stride, element) ->
              addProducts(sums, from, to, x, data, stride, weight[element]));
      if (bias != null) {
        float added = bias.floatAt(row / window.outHeight % call.get("filters"));
        for (int i = 0; i < sums.length; i++) {
          sums[i] += added;
        }
      }
      out.plus((long) Float.BYTES * row * window.outWidth).write(sums);
    }
  }

  private static void addProducts(
      float[] sums, int from, int to, float[] x, int data, int stride, float factor) {
    if (stride == 1) {
      for (int i = from; i < to; i++) {
        sums[i] += x[data + i - from] * factor;
      }
      return;
    }
    for (int i = from; i < to; i++) {
      sums[i] += x[data + (i - from) * stride] * factor;
    }
  }

  /** What becomes of the sums of a row, which have the bias. */
  @FunctionalInterface
  private interface Finish {
    /**
     * @param place of the row's first element in the result
     */
    void write(int place, int filter, int[] sums);
  }

  private static void integers(
      KernelArguments call, ElementType element, ElementType weightType, Finish finish) {
    Window window = Window.of(call);
    long[] x = call.place("x").longs(element, dataSize(call, window));
    long[] weight = call.place("weight").longs(weightType, weightSize(call, window));
    Place bias = call.place("bias");
    for (int row = 0; row < rows(call, window); row++) {
      int[] sums = new int[window.outWidth];
      int filter = row / window.outHeight % call.get("filters");
      row(
          call,
          window,
          row,
          (from, to, data, stride, at) -> {
            int factor = (int) weight[at];
            for (int i = from; i < to; i++) {
              sums[i] += (int) x[data + (i - from) * stride] * factor;
            }
          });
      for (int i = 0; i < sums.length && bias != null; i++) {
        sums[i] += bias.intAt(filter);
      }
      finish.write(row * window.outWidth, filter, sums);
    }
  }

  private static void requantized(KernelArguments call, ElementType x, ElementType element) {
    KernelArguments convolution = call.within("convolution");
    Requantized requantized = Requantized.of(call);
    integers(
        convolution,
        x,
        ElementType.I8,
        (place, filter, sums) -> {
          int multiplier = call.place("multiplier").intAt(filter * call.get("multiplier_stride"));
          int addend = call.place("addend").intAt(filter * call.get("addend_stride"));
          long[] line = new long[sums.length];
          for (int i = 0; i < line.length; i++) {
            line[i] = requantized.at(sums[i], multiplier, addend);
          }
          convolution.place("out").plus(place).write(element, line);
        });
  }

  /** An element of a pool's result: the first data under its window, and its number. */
  @FunctionalInterface
  private interface Pooled {
    void at(int plane, int top, int left, int place);
  }

  private static void pool(KernelArguments call, Window window, Pooled pooled) {
    int place = 0;
    for (int plane = 0; plane < call.get("planes"); plane++) {
      for (int y = 0; y < window.outHeight; y++) {
        for (int x = 0; x < window.outWidth; x++) {
          pooled.at(
              plane * window.plane(),
              y * window.strideY - window.lowY,
              x * window.strideX - window.lowX,
              place++);
        }
      }
    }
  }

  /** Elements under a window, in row-major order. */
  @FunctionalInterface
  private interface Under {
    void at(int element);
  }

  private static void under(Window window, int plane, int top, int left, Under under) {
    for (int ky = window.down.from(top); ky < window.down.to(top); ky++) {
      int line = plane + (top + ky * window.down.dilation) * window.width() + left;
      for (int kx = window.across.from(left); kx < window.across.to(left); kx++) {
        under.at(line + kx * window.across.dilation);
      }
    }
  }

  private static void maxPoolOfFloats(KernelArguments call) {
    Window window = Window.of(call);
    float[] x = call.place("x").floats(call.get("planes") * window.plane());
    Place indices = call.place("indices");
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          int[] best = {-1};
          under(
              window,
              plane,
              top,
              left,
              at -> {
                boolean isBetter =
                    best[0] < 0
                        || x[at] > x[best[0]]
                        || Float.isNaN(x[at]) && !Float.isNaN(x[best[0]]);
                best[0] = isBetter ? at : best[0];
              });
          call.place("out").set(place, best[0] < 0 ? Float.NEGATIVE_INFINITY : x[best[0]]);
          if (indices != null) {
            indices.set(place, (long) best[0]);
          }
        });
  }

  private static void maxPool(KernelArguments call, ElementType element) {
    Window window = Window.of(call);
    long[] x = call.place("x").longs(element, call.get("planes") * window.plane());
    long[] results = new long[call.get("planes") * window.outHeight * window.outWidth];
    Place indices = call.place("indices");
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          int[] best = {-1};
          under(
              window,
              plane,
              top,
              left,
              at -> best[0] = best[0] < 0 || x[at] > x[best[0]] ? at : best[0]);
          results[place] = best[0] < 0 ? element.minimum() : x[best[0]];
          if (indices != null) {
            indices.set(place, (long) best[0]);
          }
        });
    call.place("out").write(element, results);
  }

  private static void meanPool(KernelArguments call) {
    Window window = Window.of(call);
    boolean countsPadding = call.get("count_padding") != 0;
    float[] x = call.place("x").floats(call.get("planes") * window.plane());
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          float[] sum = new float[1];
          under(window, plane, top, left, at -> sum[0] += x[at]);
          int rows = counted(window.down, top, window.lowY, window.highY, countsPadding);
          int columns = counted(window.across, left, window.lowX, window.highX, countsPadding);
          call.place("out").set(place, sum[0] / (rows * columns));
        });
  }

  private static int counted(Span span, int origin, int low, int high, boolean padding) {
    Span counted = padding ? new Span(span.kernel, span.dilation, span.extent + low + high) : span;
    int first = padding ? origin + low : origin;
    return counted.to(first) - counted.from(first);
  }
}
