package io.partita.benchmarks.device;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Operations in several sizes, each with one or several steps. Every second size of an operation is
 * held out: no figure was fitted to it.
 */
class KernelCases {
  /** The rows of a group of 4-bit integers. */
  private static final long GROUP = 64;

  private final Samples samples = new Samples();
  private final List<List<KernelCase>> bySize = new ArrayList<>();

  /**
   * Returns all operations of a size, then those of the next, so that no kernel runs twice in a
   * row.
   */
  List<KernelCase> cases() {
    return bySize.stream().flatMap(List::stream).toList();
  }

  Tensor floats(long... extents) {
    return samples.floats(extents);
  }

  /** Returns numbers of the normal distribution. */
  Tensor normal(long... extents) {
    return samples.normal(extents);
  }

  Tensor integers(ElementType element, long... extents) {
    return samples.integers(element, extents);
  }

  Tensor bytes(long... extents) {
    return samples.integers(ElementType.I8, extents);
  }

  /** Returns numbers below an end, such as indices. */
  Tensor indices(ElementType element, long end, long... extents) {
    return samples.integers(element, 0, end, extents);
  }

  /** Returns multipliers and addends of a requantization. */
  Tensor factors(long... extents) {
    return samples.integers(ElementType.I32, 1, 100, extents);
  }

  /** Returns multipliers of 31 bits, as those of quantized models are. */
  Tensor fineFactors(long... extents) {
    return samples.integers(ElementType.I32, 1L << 30, 1L << 31, extents);
  }

  /** Returns the operands of a product with 4-bit integers in groups of 64, by its size. */
  List<Tensor> nibbles(long... size) {
    long panels = size[2] / NibblePanels.COLUMNS;
    long groups = size[1] / GROUP;
    Tensor scales =
        OpEvaluator.evaluate(
                new Elementwise.Cast(ElementType.BF16),
                List.of(floats(panels, groups, NibblePanels.COLUMNS)))
            .getFirst();
    return List.of(
        bytes(size[0], size[1]),
        integers(ElementType.U8, panels, groups, NibblePanels.bytes(GROUP)),
        scales);
  }

  /**
   * One operation.
   *
   * @param inputs the number of operands that are inputs
   * @param operands returns the operands of a size
   */
  void add(
      String name, Op op, int inputs, Function<long[], List<Tensor>> operands, long[]... sizes) {
    add(name, size -> op, inputs, operands, sizes);
  }

  /** Adds cases whose operation depends on the size. */
  void add(
      String name,
      Function<long[], Op> op,
      int inputs,
      Function<long[], List<Tensor>> operands,
      long[]... sizes) {
    addBody(
        name,
        size -> (graph, values) -> graph.addNode(op.apply(size), values).result(),
        inputs,
        operands,
        sizes);
  }

  /** Adds cases of several operations. */
  void addBody(
      String name,
      Function<long[], KernelCase.Body> body,
      int inputs,
      Function<long[], List<Tensor>> operands,
      long[]... sizes) {
    for (int i = 0; i < sizes.length; i++) {
      long[] size = sizes[i];
      String text = name + " " + Arrays.toString(size);
      if (bySize.size() == i) {
        bySize.add(new ArrayList<>());
      }
      bySize
          .get(i)
          .add(new KernelCase(text, body.apply(size), operands.apply(size), inputs, i % 2 == 1));
    }
  }

  static long[] size(long... extents) {
    return extents;
  }
}
