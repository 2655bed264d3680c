package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ_SOME;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WORK;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Kernels of {@code convolution.h}. Each element of a result is summed in the order of channels,
 * rows and columns of the window, as in C, without padding.
 */
public final class ConvolutionKernels {
  /** The places of gathered windows of bytes, one for each core of a chip that has so many. */
  public static final int PARTS = 8;

  /** The filters of a block, and the windows. */
  private static final int BLOCK = 4;

  /** The most rows of a filter whose products are those of lines as they are. */
  private static final int LINES = 8;

  /** The cost of advancing to the next row of windows for a block, in products. */
  private static final long NEXT_ROW = 16;

  /** The cost of a block with a single filter for an element of the window, in products. */
  private static final long SINGLE = 4;

  /** The cost of gathering windows, in filters. */
  private static final long GATHER = 8;

  /** The cost of a row of four windows of lines as they are, and of their block, in products. */
  private static final long LINE = 36;

  private static final long LINE_BLOCK = 100;

  /** Types of x, weight and the sums. */
  static final KernelStruct CONVOLUTION = convolution(ConvolutionKernels::work);

  /** The same where x and weight are bytes. */
  private static final KernelStruct CONVOLUTION_OF_BYTES =
      convolution(call -> workOfBytes(call, ""));

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
              call -> workOfBytes(call, "convolution."));

  private static KernelStruct convolution(Function<CallWork, List<TileExpression>> work) {
    return KernelStruct.in("convolution.h", "convolution")
        .pointers("x", "weight", "bias", "out", "windows")
        .struct("window", Window.STRUCT)
        .integers("batch", "groups", "channels", "filters", "parts")
        .build(all -> convolution(all, ""), work);
  }

  /**
   * Whether sums of bytes are those of lines of data as they are, which need no place for windows:
   * few filters of one channel, whose rows fit a word. As in convolution.c.
   *
   * @param filters those of a group
   */
  public static boolean isOfLines(
      long channels, long filters, long kernelY, long kernelX, long dilationX) {
    return channels == 1
        && filters < BLOCK
        && kernelX <= Integer.BYTES
        && dilationX == 1
        && kernelY <= LINES;
  }

  /** Returns the bytes of gathered windows, of so many elements each. */
  public static long windowBytes(long elements) {
    return PARTS * BLOCK * Integer.BYTES * Math.ceilDiv(elements, Integer.BYTES);
  }

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
    long elements =
        all.get(within + "channels") * all.get(window + "kernel_y") * all.get(window + "kernel_x");
    all.optional(
        within + "windows",
        WORK,
        Integer.SIZE,
        contiguous(
            all.get(within + "parts"), BLOCK * Math.ceilDiv(elements, (long) Integer.BYTES)));
  }

  /** A core computes rows of results of a block of filters, four windows at a time. */
  private static List<TileExpression> work(CallWork call) {
    return direct(call, "");
  }

  private static List<TileExpression> direct(CallWork call, String within) {
    String window = within + "window.";
    TileExpression rows = call.get(window + "kernel_y");
    TileExpression elements = rows.times(call.get(window + "kernel_x"));
    TileExpression filters = call.get(within + "filters");
    boolean isGrouped = isGrouped(call, within);
    TileExpression blocks = isGrouped ? filters : filters.plus(BLOCK - 1).dividedBy(BLOCK);
    // Single elements are those of a line of planes: the inner loop is that over channels.
    boolean isSingle =
        call.constant(window + "kernel_y") == 1 && call.constant(window + "kernel_x") == 1;
    long next = isSingle ? 0 : NEXT_ROW;
    return List.of(
        call.get(within + "batch"),
        blocks.times(call.get(window + "out_height")),
        blocksOfWindows(call, window),
        call.get(within + "channels")
            .times(elements.times(isGrouped ? SINGLE : BLOCK * BLOCK).plus(rows.times(next))));
  }

  /** A core computes all filters for four windows, or rows of one filter by lines. */
  private static List<TileExpression> workOfBytes(CallWork call, String within) {
    String window = within + "window.";
    TileExpression rows = call.get(window + "kernel_y");
    if (call.has(within + "windows")) {
      TileExpression elements =
          call.product(within + "channels", window + "kernel_y", window + "kernel_x");
      TileExpression words = elements.plus(Integer.BYTES - 1).dividedBy(Integer.BYTES);
      return List.of(
          call.get(within + "batch"),
          blocksOfWindows(call, window).times(call.get(window + "out_height")),
          call.get(within + "filters").plus(call.get(within + "groups").times(GATHER)),
          words.times(BLOCK * Integer.BYTES));
    }
    boolean isOfLines =
        isOfLines(
            call.constant(within + "channels"),
            isGrouped(call, within) ? 1 : call.constant(within + "filters"),
            call.constant(window + "kernel_y"),
            call.constant(window + "kernel_x"),
            call.constant(window + "dilation_x"));
    return isOfLines
        ? List.of(
            call.get(within + "batch"),
            call.product(within + "filters", window + "out_height"),
            blocksOfWindows(call, window),
            rows.times(LINE).plus(LINE_BLOCK))
        : direct(call, within);
  }

  /** Groups of several filters are few, and count as such of one. */
  private static boolean isGrouped(CallWork call, String within) {
    return !call.get(within + "groups").equals(TileExpression.of(1));
  }

  private static TileExpression blocksOfWindows(CallWork call, String window) {
    return call.get(window + "out_width").plus(BLOCK - 1).dividedBy(BLOCK);
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
    for (ElementType x : List.of(ElementType.I8, ElementType.U8)) {
      integers(table, CONVOLUTION_OF_BYTES, x, ElementType.I8);
    }
    integers(table, CONVOLUTION, ElementType.I32, ElementType.I8);
    integers(table, CONVOLUTION, ElementType.I32, ElementType.I32);
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

  private static void integers(
      KernelTable table, KernelStruct struct, ElementType x, ElementType weight) {
    table.add(
        struct,
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
