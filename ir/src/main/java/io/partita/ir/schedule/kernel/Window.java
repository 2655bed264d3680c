package io.partita.ir.schedule.kernel;

import java.util.List;

/** The fields of {@code struct partita_window}. */
record Window(
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
  static final KernelStruct STRUCT =
      KernelStruct.in("convolution.h", "window")
          .integers("height", "width", "out_height", "out_width", "kernel_y", "kernel_x")
          .integers("stride_y", "stride_x", "dilation_y", "dilation_x")
          .integers("low_y", "low_x", "high_y", "high_x")
          .build(all -> {}, call -> List.of());

  /** A spatial axis of a window. */
  record Span(int kernel, int dilation, int extent) {
    /** Returns the first element of a window over data. */
    int from(int origin) {
      return origin >= 0 ? 0 : Math.min(kernel, Math.ceilDiv(-origin, dilation));
    }

    /** Returns the end of the elements over data, exclusive. */
    int to(int origin) {
      int to = kernel;
      while (to > from(origin) && origin + (to - 1) * dilation >= extent) {
        to--;
      }
      return to;
    }
  }

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
    return down.extent();
  }

  int width() {
    return across.extent();
  }

  int plane() {
    return height() * width();
  }

  int elements() {
    return down.kernel() * across.kernel();
  }

  /** Returns the first position of a row whose window has column {@code kx} over data. */
  int firstPlace(int kx) {
    int at = kx * across.dilation() - lowX;
    return at >= 0 ? 0 : Math.min(outWidth, Math.ceilDiv(-at, strideX));
  }

  /** Returns the end of these positions, exclusive. */
  int endPlace(int kx) {
    int room = width() - 1 - (kx * across.dilation() - lowX);
    return room < 0 ? 0 : Math.min(outWidth, room / strideX + 1);
  }
}
