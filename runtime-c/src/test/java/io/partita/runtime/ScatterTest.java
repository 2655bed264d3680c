package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.Combine;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares bit for bit: updates of one element are applied in order. */
@ExtendWith(WithKernels.class)
class ScatterTest {
  private static final List<ElementType> JOINED =
      List.of(ElementType.F32, ElementType.I32, ElementType.I64);
  private static final List<ElementType> REPLACED =
      List.of(ElementType.I8, ElementType.I16, ElementType.F32, ElementType.I64);

  private final Samples samples = new Samples(8);

  private static Tensor reference(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  private Tensor operand(ElementType element, Shape shape) {
    return element == ElementType.F32 ? samples.oddFloats(shape) : samples.integers(element, shape);
  }

  private ElementType element(Combine reduction, int round) {
    List<ElementType> elements = reduction == Combine.REPLACE ? REPLACED : JOINED;
    return elements.get(round % elements.size());
  }

  private static String kernel(Combine reduction, ElementType element) {
    return reduction == Combine.REPLACE
        ? "partita_scatter_" + element.bits()
        : "partita_scatter_"
            + reduction.name().toLowerCase(java.util.Locale.ROOT)
            + "_"
            + element.text();
  }

  @ParameterizedTest
  @EnumSource
  void elements(Combine reduction, Kernels kernels) {
    for (int round = 0; round < 24; round++) {
      ElementType element = element(reduction, round);
      Shape shape = Shape.of(samples.from(1, 3), samples.from(1, 12), samples.from(1, 9));
      int extent = (int) shape.extent(1);
      Shape changed = shape.with(1, Dim.of(samples.from(1, 15)));
      Tensor data = operand(element, shape);
      Tensor indices = samples.integers(ElementType.I64, changed, -extent, extent - 1);
      Tensor updates = operand(element, changed);
      Tensor expected =
          reference(new Movement.ScatterElements(1, reduction), data, indices, updates);
      KernelCall call =
          new KernelCall(kernel(reduction, element))
              .in(data)
              .in(indices)
              .in(updates)
              .out(data.type())
              .i32(shape.extents())
              .i32(changed.extent(1), 0, extent, 0);
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  /** Tests two tiles of updates, the second of which continues from the first. */
  @ParameterizedTest
  @EnumSource
  void rowsInTiles(Combine reduction, Kernels kernels) {
    for (int round = 0; round < 24; round++) {
      ElementType element = element(reduction, round);
      int rows = samples.from(2, 12);
      int inner = samples.from(1, 9);
      int count = samples.from(1, 9);
      Tensor data = operand(element, Shape.of(rows, inner));
      Tensor indices = samples.integers(ElementType.I64, Shape.of(count, 1), -rows, rows - 1);
      Tensor updates = operand(element, Shape.of(count, inner));
      Movement.ScatterNd scatter = new Movement.ScatterNd(reduction);
      Tensor once = reference(scatter, data, indices, updates);
      KernelCall first =
          new KernelCall(kernel(reduction, element))
              .in(data)
              .in(indices)
              .in(updates)
              .out(data.type())
              .i32(1, rows, inner, count, 0, rows, 1);
      Same.verify(first.toString(), kernels.result(first), once);
      KernelCall second =
          new KernelCall(kernel(reduction, element))
              .absent()
              .in(indices)
              .in(updates)
              .inOut(once)
              .i32(1, rows, inner, count, 0, rows, 1);
      Tensor twice = reference(scatter, once, indices, updates);
      Same.verify(second.toString(), kernels.result(second), twice);
      int from = samples.from(1, rows - 1);
      KernelCall tile =
          new KernelCall(kernel(reduction, element))
              .in(part(data, from))
              .in(indices)
              .in(updates)
              .out(part(data, from).type())
              .i32(1, rows - from, inner, count, from, rows, 1);
      Same.verify(tile.toString(), kernels.result(tile), part(once, from));
    }
  }

  private static Tensor part(Tensor data, int from) {
    long rows = data.shape().extent(0);
    Movement.Slice rest =
        new Movement.Slice(
            List.of(Dim.of(from), Dim.ZERO),
            List.of(Dim.of(rows - from), data.shape().dim(1)),
            List.of(1L, 1L));
    return reference(rest, data);
  }
}
