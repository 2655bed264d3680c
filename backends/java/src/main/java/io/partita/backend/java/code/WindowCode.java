package io.partita.backend.java.code;

import io.partita.ir.op.Contraction;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;

/**
 * Loops of sliding windows. For each element of the window, a convolution adds a whole plane of
 * products, so that the inner loop runs along rows of data and result.
 */
final class WindowCode {
  private final StepCode code;
  private final Body body;
  private final Window window;
  private final int rank;

  WindowCode(StepCode code, Window window) {
    this.code = code;
    this.body = code.body;
    this.window = window;
    this.rank = window.spatialRank();
  }

  private static Shape spatial(Shape shape) {
    return shape.range(2, shape.rank());
  }

  private long kernelCount() {
    return window.kernel().stream().reduce(1L, (a, b) -> a * b);
  }

  void convolve(Contraction.Convolution convolution) {
    Shape data = code.shape(0);
    Shape result = code.resultType().shape();
    long groups = convolution.groups();
    long filters = result.extent(1);
    long channels = code.shape(1).extent(1);
    if (result.elements() == 0) {
      return;
    }
    Accumulator sums = Accumulator.of(code);
    begin(sums, convolution.bias(), filters, spatial(result).elements());
    body.open(LoopNest.loop("plane", result.extent(0) * filters));
    body.line("int image = plane / " + filters);
    body.line("int filter = plane % " + filters);
    body.open(LoopNest.loop("c", channels));
    String channel =
        groups == 1
            ? "image * " + data.extent(1) + " + c"
            : "image * %s + filter / %s * %s + c"
                .formatted(data.extent(1), filters / groups, channels);
    body.line("int from = (" + channel + ") * " + spatial(data).elements());
    body.line("int to = plane * " + spatial(result).elements());
    openKernel("(filter * " + channels + " + c) * " + kernelCount());
    openPlaces(spatial(data), spatial(result));
    String x = code.load(0, "from + " + windowed(spatial(data)));
    String product = sums.product(code.element(1), "w", code.element(0), x);
    body.line(sums.array() + "[to + " + plain(spatial(result)) + "] += " + product);
    body.close(2 * rank + 2);
    sums.finish();
  }

  void convolveTransposed(Contraction.TransposedConvolution convolution) {
    Shape data = code.shape(0);
    Shape result = code.resultType().shape();
    long groups = convolution.groups();
    long channels = data.extent(1);
    long perGroup = code.shape(1).extent(1);
    if (result.elements() == 0) {
      return;
    }
    Accumulator sums = Accumulator.of(code);
    begin(sums, convolution.bias(), result.extent(1), spatial(result).elements());
    body.open(LoopNest.loop("plane", data.extent(0) * channels));
    body.line("int image = plane / " + channels);
    body.line("int channel = plane % " + channels);
    body.open(LoopNest.loop("f", perGroup));
    String filter =
        groups == 1
            ? "image * " + result.extent(1) + " + f"
            : "image * %s + channel / %s * %s + f"
                .formatted(result.extent(1), channels / groups, perGroup);
    body.line("int from = plane * " + spatial(data).elements());
    body.line("int to = (" + filter + ") * " + spatial(result).elements());
    openKernel("(channel * " + perGroup + " + f) * " + kernelCount());
    openPlaces(spatial(result), spatial(data));
    String x = code.load(0, "from + " + plain(spatial(data)));
    String product = sums.product(code.element(1), "w", code.element(0), x);
    body.line(sums.array() + "[to + " + windowed(spatial(result)) + "] += " + product);
    body.close(2 * rank + 2);
    sums.finish();
  }

  /** Sets the sums to the bias, or to zero. */
  private void begin(Accumulator sums, boolean bias, long filters, long plane) {
    if (!bias) {
      sums.clear();
      return;
    }
    body.open(LoopNest.loop("plane", code.resultType().shape().extent(0) * filters));
    String value = code.load(2, "plane % " + filters);
    boolean halves = code.resultType().element().isFloat() && !sums.own();
    boolean unsigned = code.resultType().element() == ElementType.U32;
    body.line(
        "Arrays.fill(%s, plane * %s, plane * %s + %s, %s)"
            .formatted(
                sums.array(),
                plane,
                plane,
                plane,
                halves ? "(float) " + value : unsigned ? "(int) " + value : value));
    body.close();
  }

  /** Loops over the window's elements; {@code w} is the weight under it. */
  private void openKernel(String base) {
    StringBuilder at = new StringBuilder(base);
    long inner = kernelCount();
    for (int axis = 0; axis < rank; axis++) {
      body.open(LoopNest.loop("k" + axis, window.kernel().get(axis)));
      inner /= window.kernel().get(axis);
      at.append(" + k").append(axis).append(inner == 1 ? "" : " * " + inner);
    }
    String type = Elements.carrier(code.element(1));
    body.line(type + " w = " + code.load(1, at.toString()));
  }

  /** Loops over the window positions at which its element is inside {@code over}. */
  private void openPlaces(Shape over, Shape places) {
    for (int axis = 0; axis < rank; axis++) {
      String ahead = ahead(axis);
      long stride = window.strides().get(axis);
      String first = "-Math.floorDiv(%s, %s)".formatted(ahead, stride);
      String last =
          "Math.floorDiv(%s - (%s), %s) + 1".formatted(over.extent(axis) - 1, ahead, stride);
      body.line("int first%s = Math.max(0, %s)".formatted(axis, first));
      body.line("int end%s = Math.min(%s, %s)".formatted(axis, places.extent(axis), last));
      body.open("for (int o%1$s = first%1$s; o%1$s < end%1$s; o%1$s++)".formatted(axis));
    }
  }

  /** The offset of the window's element when the window is at position 0. */
  private String ahead(int axis) {
    long dilation = window.dilations().get(axis);
    long low = window.low().get(axis);
    return "k"
        + axis
        + (dilation == 1 ? "" : " * " + dilation)
        + (low == 0 ? "" : low > 0 ? " - " + low : " + " + -low);
  }

  private String plain(Shape places) {
    StringBuilder text = new StringBuilder();
    long[] strides = places.strides();
    for (int axis = 0; axis < rank; axis++) {
      text.append(axis == 0 ? "" : " + ").append("o").append(axis);
      text.append(strides[axis] == 1 ? "" : " * " + strides[axis]);
    }
    return text.toString();
  }

  private String windowed(Shape over) {
    StringBuilder text = new StringBuilder();
    long[] strides = over.strides();
    for (int axis = 0; axis < rank; axis++) {
      long stride = window.strides().get(axis);
      String place = "o" + axis + (stride == 1 ? "" : " * " + stride) + " + " + ahead(axis);
      text.append(axis == 0 ? "" : " + ");
      text.append(strides[axis] == 1 ? place : "(" + place + ") * " + strides[axis]);
    }
    return text.toString();
  }

  /** Loops over window positions, then over the window's elements that are inside. */
  void pool(Contraction.Pool pool) {
    Shape data = code.shape(0);
    Shape result = code.resultType().shape();
    ElementType element = code.element(0);
    if (result.elements() == 0) {
      return;
    }
    body.open(LoopNest.loop("plane", data.extent(0) * data.extent(1)));
    for (int axis = 0; axis < rank; axis++) {
      body.open(LoopNest.loop("o" + axis, result.extent(axis + 2)));
    }
    if (pool.largest()) {
      body.line(Elements.carrier(element) + " best = " + Elements.lowest(element));
      body.line("int place = -1");
    } else {
      body.line("double sum = 0");
      body.line("int count = 0");
    }
    for (int axis = 0; axis < rank; axis++) {
      body.open(LoopNest.loop("k" + axis, window.kernel().get(axis)));
      long stride = window.strides().get(axis);
      body.line(
          "int i%s = o%s%s + %s"
              .formatted(axis, axis, stride == 1 ? "" : " * " + stride, ahead(axis)));
    }
    String at = "plane * " + spatial(data).elements() + " + " + under(spatial(data));
    if (pool.largest()) {
      largest(element, at);
    } else {
      mean(pool.countPadding(), at);
    }
    body.close(rank);
    String to = "plane * " + spatial(result).elements() + " + " + plain(spatial(result));
    if (pool.largest()) {
      code.store(to, "best");
      if (pool.indices()) {
        body.line(code.result(1) + "[" + to + "] = place");
      }
    } else {
      code.store(to, element == ElementType.F32 ? "(float) (sum / count)" : "sum / count");
    }
    body.close(rank + 1);
  }

  private String under(Shape over) {
    StringBuilder text = new StringBuilder();
    long[] strides = over.strides();
    for (int axis = 0; axis < rank; axis++) {
      text.append(axis == 0 ? "" : " + ").append("i").append(axis);
      text.append(strides[axis] == 1 ? "" : " * " + strides[axis]);
    }
    return text.toString();
  }

  /** Whether the window's element is inside the padded data. */
  private String within(boolean padded) {
    StringBuilder text = new StringBuilder();
    for (int axis = 0; axis < rank; axis++) {
      long low = padded ? -window.low().get(axis) : 0;
      long high = code.shape(0).extent(axis + 2) + (padded ? window.high().get(axis) : 0);
      text.append(axis == 0 ? "" : " && ");
      text.append("i%s >= %s && i%s < %s".formatted(axis, low, axis, high));
    }
    return text.toString();
  }

  private void mean(boolean countPadding, String at) {
    if (countPadding) {
      body.open("if (" + within(true) + ")").line("count++").close();
    }
    body.open("if (" + within(false) + ")");
    body.line("sum += " + code.load(0, at));
    if (!countPadding) {
      body.line("count++");
    }
    body.close();
  }

  /** The first largest element; a NaN is larger than any number. */
  private void largest(ElementType element, String at) {
    body.open("if (" + within(false) + ")");
    body.line(Elements.carrier(element) + " x = " + code.load(0, at));
    String greater =
        switch (element.kind()) {
          case FLOAT -> "x > best || x != x && best == best";
          case BOOLEAN -> "x && !best";
          case SIGNED, UNSIGNED ->
              element == ElementType.U64 ? "Long.compareUnsigned(x, best) > 0" : "x > best";
        };
    body.open("if (place < 0 || " + greater + ")");
    body.line("best = x");
    body.line("place = " + at);
    body.close(2);
  }
}
