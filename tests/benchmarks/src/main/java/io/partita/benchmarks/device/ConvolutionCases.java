package io.partita.benchmarks.device;

import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.Collections;
import java.util.List;

/** Convolutions, whole and depthwise, patch embeddings and pools. */
final class ConvolutionCases extends KernelCases {
  /** Channels, filters, height and width, kernel, stride. */
  private static final long[][] WHOLE = {
    size(1, 64, 32, 3, 1),
    size(8, 16, 12, 3, 1),
    size(8, 8, 16, 3, 1),
    size(3, 16, 32, 3, 2),
    size(3, 16, 32, 3, 1),
    size(16, 32, 10, 3, 1),
    size(8, 24, 12, 1, 1),
    size(32, 16, 14, 1, 1),
    size(64, 64, 8, 1, 1),
    size(6, 10, 20, 5, 2),
    size(16, 16, 8, 3, 1),
    size(24, 12, 9, 3, 1)
  };

  /** Channels, height and width, kernel, stride. */
  private static final long[][] DEPTHWISE = {
    size(16, 16, 3, 1), size(32, 12, 3, 1), size(64, 8, 3, 1), size(24, 14, 3, 2)
  };

  static List<KernelCase> floats() {
    return new ConvolutionCases().cases("convolution f32", ElementType.F32, ElementType.F32);
  }

  static List<KernelCase> integers() {
    ConvolutionCases it = new ConvolutionCases();
    it.cases("convolution i8", ElementType.I8, ElementType.I32);
    it.add(
        "convolution i32, channels, filters, extent, kernel, stride",
        size ->
            new Contraction.Convolution(
                window(size[3], size[4], size[3] / 2), 1, false, ElementType.I32),
        1,
        size ->
            List.of(
                it.integers(ElementType.I32, 1, size[0], size[2], size[2]),
                it.integers(ElementType.I8, size[1], size[0], size[3], size[3])),
        WHOLE);
    it.pool("max pool u8", true, ElementType.U8);
    return it.cases();
  }

  private List<KernelCase> cases(String name, ElementType from, ElementType to) {
    add(
        name + ", channels, filters, extent, kernel, stride",
        size -> new Contraction.Convolution(window(size[3], size[4], size[3] / 2), 1, false, to),
        1,
        size ->
            List.of(
                data(from, 1, size[0], size[2], size[2]),
                data(from, size[1], size[0], size[3], size[3])),
        WHOLE);
    add(
        "depthwise " + name + ", channels, extent, kernel, stride",
        size ->
            new Contraction.Convolution(window(size[2], size[3], size[2] / 2), size[0], false, to),
        1,
        size ->
            List.of(
                data(from, 1, size[0], size[1], size[1]), data(from, size[0], 1, size[2], size[2])),
        DEPTHWISE);
    if (from.isFloat()) {
      add(
          "patch embedding, channels, features, extent, patch",
          new Structured.PatchEmbedding(false),
          1,
          size ->
              List.of(
                  floats(1, size[0], size[2], size[2]), floats(size[1], size[0], size[3], size[3])),
          size(1, 32, 28, 7),
          size(3, 48, 32, 8),
          size(3, 24, 32, 4),
          size(1, 64, 32, 8));
      pool("max pool", true, from);
      pool("mean pool", false, from);
    }
    return cases();
  }

  private void pool(String name, boolean largest, ElementType element) {
    add(
        name + ", channels, extent, kernel, stride",
        size -> new Contraction.Pool(largest, window(size[2], size[3], 0), false, false, false),
        1,
        size -> List.of(data(element, 1, size[0], size[1], size[1])),
        size(16, 16, 2, 2),
        size(32, 14, 2, 2),
        size(8, 24, 3, 2),
        size(12, 20, 3, 1),
        size(24, 12, 2, 1),
        size(6, 30, 3, 3));
  }

  private Tensor data(ElementType element, long... extents) {
    return element.isFloat() ? floats(extents) : integers(element, extents);
  }

  private static Window window(long kernel, long stride, long padding) {
    return new Window(both(kernel), both(stride), both(1), both(padding), both(padding));
  }

  private static List<Long> both(long value) {
    return Collections.nCopies(2, value);
  }
}
