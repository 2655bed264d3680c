package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ_SOME;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Kernels of {@code convolution.h}. Each element of a result is summed in the order of channels,
 * rows and columns of the window, as in C, without padding.
 */
final class ConvolutionKernels {
  /** The cost of advancing to the next row of a window, in products. */
  private static final long NEXT_ROW = 4;

  /** Types of x, weight and the sums. */
  static final KernelStruct CONVOLUTION =
      KernelStruct.in("convolution.h", "convolution")
          .pointers("x", "weight", "bias", "out")
          .struct("window", Window.STRUCT)
          .integers("batch", "groups", "channels", "filters")
          .build(all -> convolution(all, ""), call -> work(call, ""));

  /** Types of x, weight and the result. */
  static final KernelStruct CONVOLUTION_REQUANTIZE =
      KernelStruct.in("convolution.h", "convolution_requantize")
          .struct("convolution", CONVOLUTION)
          .pointers("multiplier", "addend")
          .integers("multiplier_stride", "addend_stride", "shift", "low", "high")
          .requires("0 <= shift <= 62", Requantized::isShift)
          .build(
              all -> {
                convolution(all, "convolution.");
                for (String vector : List.of("multiplier", "addend")) {
                  all.add(
                      vector,
                      READ,
                      Integer.SIZE,
                      List.of(all.step("convolution.filters", vector + "_stride")));
                }
              },
              call -> work(call, "convolution."));

  /** Windows may skip elements. */
  private static void convolution(Accesses all, String within) {
    String window = within + "window.";
    long channels = all.get(within + "groups") * all.get(within + "channels");
    all.add(
        within + "x",
        READ_SOME,
        all.bits(0),
        contiguous(
            all.get(within + "batch"),
            channels,
            all.get(window + "height"),
            all.get(window + "width")));
    all.add(
        within + "weight",
        READ,
        all.bits(1),
        all.vector(
            within + "filters", within + "channels", window + "kernel_y", window + "kernel_x"));
    all.optional(within + "bias", READ, Integer.SIZE, all.vector(within + "filters"));
    all.add(
        within + "out",
        WRITE,
        all.bits(2),
        all.vector(
            within + "batch", within + "filters", window + "out_height", window + "out_width"));
  }

  /** A core computes one row of results of a filter at a time. */
  private static List<TileExpression> work(CallWork call, String within) {
    String window = within + "window.";
    TileExpression rows = call.get(window + "kernel_y");
    return List.of(
        call.get(within + "batch"),
        call.product(within + "filters", window + "out_height"),
        call.get(window + "out_width"),
        call.get(within + "channels")
            .times(rows.times(call.get(window + "kernel_x")).plus(rows.times(NEXT_ROW))));
  }

  /** Parameters for all results or for each filter. */
  private static Optional<List<Argument>> requantization(List<Argument> end, int rank) {
    List<Argument> all = new ArrayList<>();
    for (String vector : List.of("multiplier", "addend")) {
      Optional<Integer> along = Epilogue.only(end, vector + "_strides", rank);
      boolean isOne = along.filter(each -> each < 0).isPresent();
      boolean isFilter = along.filter(each -> each == 1).isPresent();
      if (!isOne && !isFilter) {
        return Optional.empty();
      }
      all.add(new Argument(vector, CallFields.find(end, vector).orElseThrow()));
      all.add(Argument.integer(vector + "_stride", isFilter ? 1 : 0));
    }
    return Epilogue.small(end, "shift", "low", "high")
        .map(
            more -> {
              all.addAll(more);
              return all;
            });
  }

  private ConvolutionKernels() {}

  static void add(KernelTable table) {
    List<ElementType> floats = List.of(ElementType.F32, ElementType.F32, ElementType.F32);
    table.add(
        CONVOLUTION,
        "convolution_f32",
        KernelClass.CONVOLUTION,
        floats,
        ConvolutionKernels::floats);
    for (ElementType x : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
      integers(table, x, ElementType.I8);
    }
    integers(table, ElementType.I32, ElementType.I32);
    for (ElementType x : List.of(ElementType.I8, ElementType.U8)) {
      for (ElementType out : List.of(ElementType.I8, ElementType.U8)) {
        table.add(
            new Kernel(
                "convolution_requantize_" + x + "_i8_" + out,
                CONVOLUTION_REQUANTIZE,
                List.of(x, ElementType.I8, out),
                KernelClass.CONVOLUTION,
                x,
                true,
                call -> requantized(call, x, out),
                Optional.of(
                    new Epilogue(
                        "convolution_" + x + "_i8",
                        "requantize_i32_" + out,
                        "convolution",
                        ConvolutionKernels::requantization))));
      }
    }
  }

  private static void integers(KernelTable table, ElementType x, ElementType weight) {
    table.add(
        CONVOLUTION,
        "convolution_" + x + "_" + weight,
        KernelClass.CONVOLUTION,
        List.of(x, weight, ElementType.I32),
        call ->
            integers(
                call,
                x,
                weight,
                (row, filter, sums) ->
                    call.place("out").plus((long) Integer.BYTES * row).write(sums)));
  }

  /** Processes an interval of a row of the result to which an element of a filter contributes. */
  @FunctionalInterface
  private interface Products {
    /**
     * @param x the index of the data for the first position
     * @param weight the index of the element of the filter
     */
    void add(int from, int to, int x, int stride, int weight);
  }

  /** Iterates over the elements of a filter in order, for one row of the result. */
  private static void row(KernelArguments call, Window window, int row, Products products) {
    int filters = call.get("filters");
    int channels = call.get("channels");
    int groups = call.get("groups");
    int filter = row / window.outHeight() % filters;
    int image = row / window.outHeight() / filters;
    int plane = (image * groups + filter / (filters / groups)) * channels;
    int top = row % window.outHeight() * window.strideY() - window.lowY();
    for (int channel = 0; channel < channels; channel++) {
      int data = (plane + channel) * window.plane();
      int weight = (filter * channels + channel) * window.elements();
      for (int ky = window.down().from(top); ky < window.down().to(top); ky++) {
        int line = data + (top + ky * window.down().dilation()) * window.width();
        for (int kx = 0; kx < window.across().kernel(); kx++) {
          int from = window.firstPlace(kx);
          int to = window.endPlace(kx);
          if (from < to) {
            int x =
                line + from * window.strideX() + kx * window.across().dilation() - window.lowX();
            products.add(
                from, to, x, window.strideX(), weight + ky * window.across().kernel() + kx);
          }
        }
      }
    }
  }

  private static int rows(KernelArguments call, Window window) {
    return call.get("batch") * call.get("filters") * window.outHeight();
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
      float[] sums = new float[window.outWidth()];
      row(
          call,
          window,
          row,
          (from, to, data, stride, element) ->
              addProducts(sums, from, to, x, data, stride, weight[element]));
      if (bias != null) {
        float added = bias.floatAt(row / window.outHeight() % call.get("filters"));
        for (int i = 0; i < sums.length; i++) {
          sums[i] += added;
        }
      }
      out.plus((long) Float.BYTES * row * window.outWidth()).write(sums);
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

  /** Finishes the sums of a row, which include the bias. */
  @FunctionalInterface
  private interface Finish {
    /**
     * @param place the index of the first element of the row in the result
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
      int[] sums = new int[window.outWidth()];
      int filter = row / window.outHeight() % call.get("filters");
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
      finish.write(row * window.outWidth(), filter, sums);
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
}
