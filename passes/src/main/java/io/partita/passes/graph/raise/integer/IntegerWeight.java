package io.partita.passes.graph.raise.integer;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * A constant matrix of integers, and what they stand for: {@code weight = integers scale}.
 *
 * @param integers i8 or u8 {@code [in, out]}
 * @param scale f32, a scalar or {@code [out]}
 * @param source the value whose integers these are, if they are unchanged
 */
record IntegerWeight(Tensor integers, Tensor scale, Optional<Value> source) {
  /** Half the range of u8: a zero point that turns into none if the integers become signed. */
  private static final int MIDDLE = 128;

  /**
   * Reads a dequantized constant, of which movements may follow; empty if there is none, or if its
   * scales differ within a column, or its zero points aren't zero.
   *
   * @param weight {@code [in, out]}, or {@code [out, in]} if {@code transposed}
   */
  static Optional<IntegerWeight> of(Value weight, boolean transposed, GraphEditor graph) {
    DequantizedConstant found = DequantizedConstant.of(weight, transposed, graph).orElse(null);
    if (found == null || found.op().block() != 0) {
      return Optional.empty();
    }
    Tensor integers = found.integers();
    Tensor zero = found.zero();
    List<Op> movements = found.movements();
    boolean isCentred = zero.element() == ElementType.U8 && zero.isFilledWith(MIDDLE);
    if (!integers.element().isByte() || !isCentred && !zero.isFilledWith(0)) {
      return Optional.empty();
    }
    Optional<Tensor> moved = movedScale(found.scale(), found.op().axis(), movements);
    if (moved.isEmpty()) {
      return Optional.empty();
    }
    Tensor data = isCentred ? signed(integers) : integers;
    for (Op movement : movements) {
      data = moved(movement, data);
    }
    boolean isSame = movements.isEmpty() && !isCentred;
    Optional<Value> source = isSame ? Optional.of(found.quantized()) : Optional.empty();
    return Optional.of(new IntegerWeight(data, moved.get(), source));
  }

  /** Moves a scale like the matrix; empty if the result isn't a vector along the columns. */
  private static Optional<Tensor> movedScale(Tensor scale, int axis, List<Op> movements) {
    if (scale.shape().rank() == 0) {
      return Optional.of(scale);
    }
    int along = axis;
    Tensor moved = scale;
    for (Op movement : movements) {
      if (movement instanceof Movement.Slice(var starts, var sizes, var steps)) {
        moved =
            moved(
                new Movement.Slice(
                    List.of(starts.get(along)),
                    List.of(sizes.get(along)),
                    List.of(steps.get(along))),
                moved);
      } else {
        along = 1 - along;
      }
    }
    return along == 1 ? Optional.of(moved) : Optional.empty();
  }

  static Tensor moved(Op movement, Tensor data) {
    TensorType type = movement.resultTypes(List.of(data.type())).getFirst();
    return Tensor.deferred(
        type, () -> OpEvaluator.evaluate(movement, List.of(data)).getFirst().bytes());
  }

  private static Tensor signed(Tensor integers) {
    return Tensor.deferred(
        integers.type().with(ElementType.I8),
        () -> {
          byte[] bytes = integers.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
          for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (bytes[i] - MIDDLE);
          }
          return MemorySegment.ofArray(bytes);
        });
  }

  int rows() {
    return Math.toIntExact(integers.shape().extent(0));
  }

  int columns() {
    return Math.toIntExact(integers.shape().extent(1));
  }

  /** Returns {@code -zero Σ integers} of each column, as i32 {@code [out]}. */
  Tensor correction(long zero) {
    TensorType type = new TensorType(ElementType.I32, Shape.of(columns()));
    return Tensor.deferred(
        type,
        () -> {
          long[] sums = new long[columns()];
          for (int i = 0; i < integers.size(); i++) {
            sums[i % sums.length] -= zero * integers.getLong(i);
          }
          return Tensor.ofLongs(type, sums).bytes();
        });
  }

  /** Returns the product of the scales, in f32. */
  Tensor scaledBy(float factor) {
    float[] scales = scale.floats().clone();
    for (int i = 0; i < scales.length; i++) {
      scales[i] *= factor;
    }
    return Tensor.of(scale.type(), scales);
  }
}
