package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The sliding window of convolutions and pools, from their attributes. */
record WindowAttributes(
    List<Long> kernel, List<Long> strides, List<Long> dilations, List<Long> pads, String autoPad) {

  /**
   * @param kernel the extents without {@code kernel_shape}
   */
  static WindowAttributes of(NodeScope node, List<Long> kernel) {
    List<Long> extents = node.integers("kernel_shape", kernel);
    int rank = extents.size();
    if (rank != node.shape(0).rank() - 2 || rank == 0) {
      throw node.invalid(
          "a kernel for each spatial dimension of " + node.shape(0), extents.toString());
    }
    List<Long> ones = Collections.nCopies(rank, 1L);
    WindowAttributes window =
        new WindowAttributes(
            extents,
            node.integers("strides", ones),
            node.integers("dilations", ones),
            node.integers("pads", Collections.nCopies(2 * rank, 0L)),
            node.text("auto_pad", "NOTSET"));
    if (window.strides.size() != rank
        || window.dilations.size() != rank
        || window.pads.size() != 2 * rank) {
      throw node.invalid(
          rank + " strides and dilations, and " + 2 * rank + " pads",
          window.strides + ", " + window.dilations + ", " + window.pads);
    }
    for (List<Long> list : List.of(extents, window.strides, window.dilations)) {
      if (list.stream().anyMatch(number -> number < 1 || number > Integer.MAX_VALUE)) {
        throw node.invalid("kernel extents, strides and dilations of 1 or more", list.toString());
      }
    }
    if (window.pads.stream().anyMatch(pad -> Math.abs(pad) > Integer.MAX_VALUE)) {
      throw node.invalid("pads of less than 2^31", window.pads.toString());
    }
    return window;
  }

  int rank() {
    return kernel.size();
  }

  /** Returns the extent of the dilated kernel on an axis. */
  long reach(int axis) {
    return (kernel.get(axis) - 1) * dilations.get(axis) + 1;
  }

  boolean isSame() {
    return autoPad.startsWith("SAME_");
  }

  /** Returns the window over data {@code [n, c, spatial…]}, with automatic padding resolved. */
  Window over(NodeScope node, Shape data) {
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int axis = 0; axis < rank(); axis++) {
      switch (autoPad) {
        case "NOTSET" -> {
          low.add(pads.get(axis));
          high.add(pads.get(axis + rank()));
        }
        case "VALID" -> {
          low.add(0L);
          high.add(0L);
        }
        case "SAME_UPPER", "SAME_LOWER" -> {
          long total = samePadding(node, data.dim(axis + 2), axis);
          long less = total / 2;
          low.add(autoPad.equals("SAME_UPPER") ? less : total - less);
          high.add(autoPad.equals("SAME_UPPER") ? total - less : less);
        }
        case String other ->
            throw node.invalid("auto_pad NOTSET, VALID, SAME_UPPER or SAME_LOWER", other);
      }
    }
    return new Window(kernel, strides, dilations, low, high);
  }

  /** Returns the padding that gives ceil(extent / stride) positions. */
  private long samePadding(NodeScope node, Dim extent, int axis) {
    if (!extent.isStatic()) {
      throw node.unsupported(
          "automatic padding of an extent " + extent, "bind the dimensions with --dim");
    }
    long places = Math.ceilDiv(extent.value(), strides.get(axis));
    return Math.max(0, (places - 1) * strides.get(axis) + reach(axis) - extent.value());
  }
}
