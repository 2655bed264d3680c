package io.partita.benchmarks.device;

import io.partita.ir.op.Op;
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
