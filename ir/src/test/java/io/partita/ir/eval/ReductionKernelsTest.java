package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.integers;
import static io.partita.ir.eval.Evaluated.vector;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReductionKernelsTest {
  private static final double NAN = Double.NaN;
  private static final double INFINITY = Double.POSITIVE_INFINITY;

  private static Tensor reduce(ReductionKind kind, Tensor x, Integer... axes) {
    return Evaluated.of(new Reduction.Reduce(kind, List.of(axes), false), x);
  }

  @Test
  void reducesOverAnyAxes() {
    Tensor x = Tensor.floats(Shape.of(2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(reduce(ReductionKind.SUM, x, 0, 2).floats()).containsExactly(14, 22);
    assertThat(reduce(ReductionKind.MEAN, x, 1).floats()).containsExactly(2, 3, 6, 7);
    assertThat(reduce(ReductionKind.MAX, x, 0, 1, 2).floats()).containsExactly(8);
    assertThat(reduce(ReductionKind.PRODUCT, x, 2).floats()).containsExactly(2, 12, 30, 56);
    assertThat(reduce(ReductionKind.MIN, x)).isEqualTo(x);
    Tensor kept = Evaluated.of(new Reduction.Reduce(ReductionKind.SUM, List.of(1), true), x);
    assertThat(kept.shape()).isEqualTo(Shape.of(2, 1, 2));
  }

  @Test
  void emptyLinesGiveTheIdentity() {
    Tensor floats = Tensor.floats(Shape.of(1, 0));
    assertThat(reduce(ReductionKind.SUM, floats, 1).doubles()).containsExactly(0);
    assertThat(reduce(ReductionKind.PRODUCT, floats, 1).doubles()).containsExactly(1);
    assertThat(reduce(ReductionKind.MAX, floats, 1).doubles()).containsExactly(-INFINITY);
    assertThat(reduce(ReductionKind.MIN, floats, 1).doubles()).containsExactly(INFINITY);
    assertThat(reduce(ReductionKind.MEAN, floats, 1).doubles()).containsExactly(NAN);
    assertThat(reduce(ReductionKind.MAX, integers(ElementType.I8), 0).longs())
        .containsExactly(-128);
    assertThat(reduce(ReductionKind.MIN, integers(ElementType.U64), 0).longs()).containsExactly(-1);
    assertThat(reduce(ReductionKind.SUM, Tensor.floats(Shape.of(0, 3)), 1).size()).isZero();
  }

  /** Extents of empty tensors are bounded by nothing. */
  @Test
  void emptyTensorsMayHaveAnyExtents() {
    Tensor rows = Tensor.floats(Shape.of(0, 1L << 40));
    assertThat(reduce(ReductionKind.SUM, rows, 1).size()).isZero();
    Tensor lines = Tensor.floats(Shape.of(2, 1L << 40, 0));
    assertThat(reduce(ReductionKind.MAX, lines, 1, 2).doubles())
        .containsExactly(-INFINITY, -INFINITY);
  }

  @Test
  void integersStayIntegers() {
    assertThat(reduce(ReductionKind.SUM, integers(ElementType.U8, 200, 100), 0).longs())
        .containsExactly(44);
    assertThat(reduce(ReductionKind.MEAN, integers(ElementType.I32, -3, -4), 0).longs())
        .containsExactly(-3);
    assertThat(reduce(ReductionKind.MAX, integers(ElementType.U64, 1, -1), 0).longs())
        .containsExactly(-1);
    assertThat(reduce(ReductionKind.MAX, integers(ElementType.BOOL, 0, 1), 0).longs())
        .containsExactly(1);
  }

  @Test
  void sumsAreWiderThanTheirTerms() {
    Tensor tenths = Tensor.filled(TensorType.of(ElementType.F16, 4096), 1);
    assertThat(reduce(ReductionKind.SUM, tenths, 0).getDouble(0)).isEqualTo(4096);
    Tensor halves = Tensor.filled(TensorType.of(ElementType.BF16, 1001), 1);
    assertThat(reduce(ReductionKind.MEAN, halves, 0).getDouble(0)).isEqualTo(1);
  }

  private static long[] arg(boolean largest, boolean last, Tensor x) {
    return Evaluated.of(new Reduction.ArgReduce(largest, 0, false, last), x).longs();
  }

  @Test
  void findsTheFirstOrLastExtreme() {
    Tensor x = vector(ElementType.F32, 1, 3, 0.0, 3, -0.0);
    assertThat(arg(true, false, x)).containsExactly(1);
    assertThat(arg(true, true, x)).containsExactly(3);
    assertThat(arg(false, false, x)).containsExactly(2);
    assertThat(arg(false, true, x)).containsExactly(4);
    Tensor nan = vector(ElementType.F32, 1, NAN, -INFINITY, NAN);
    assertThat(arg(true, false, nan)).containsExactly(1);
    assertThat(arg(false, false, nan)).containsExactly(1);
    assertThat(arg(true, false, integers(ElementType.U64, 5, -1))).containsExactly(1);
    assertThat(arg(false, false, integers(ElementType.I64, Long.MAX_VALUE, Long.MIN_VALUE)))
        .containsExactly(1);
    assertThatThrownBy(() -> arg(true, false, vector(ElementType.F32)))
        .hasMessageContaining("P3205");
  }

  @Test
  void topKOrdersEqualElementsByIndex() {
    Tensor x = Tensor.floats(Shape.of(2, 4), 1, 7, 7, 3, 0, -1, 0, 5);
    List<Tensor> largest = OpEvaluator.evaluate(new Reduction.TopK(3, 1, true), List.of(x));
    assertThat(largest.get(0).floats()).containsExactly(7, 7, 3, 5, 0, 0);
    assertThat(largest.get(1).longs()).containsExactly(1, 2, 3, 3, 0, 2);
    List<Tensor> smallest = OpEvaluator.evaluate(new Reduction.TopK(1, 0, false), List.of(x));
    assertThat(smallest.get(0).floats()).containsExactly(0, -1, 0, 3);
    assertThat(smallest.get(1).longs()).containsExactly(1, 1, 1, 0);
  }

  private static double[] running(boolean product, boolean exclusive, boolean reverse) {
    Tensor x = Tensor.floats(Shape.of(3, 1), 2, 3, 4);
    return Evaluated.of(new Reduction.Cumulative(product, 0, exclusive, reverse), x).doubles();
  }

  @Test
  void accumulates() {
    assertThat(running(false, false, false)).containsExactly(2, 5, 9);
    assertThat(running(false, true, false)).containsExactly(0, 2, 5);
    assertThat(running(false, false, true)).containsExactly(9, 7, 4);
    assertThat(running(true, true, true)).containsExactly(12, 4, 1);
  }

  @Test
  void softmaxOverAnyAxis() {
    Tensor x = Tensor.floats(Shape.of(2, 2), 0, 1000, (float) Math.log(3), 1000);
    assertThat(Evaluated.of(new Reduction.Softmax(0, false), x).doubles())
        .usingComparatorWithPrecision(1e-7)
        .containsExactly(0.25, 0.5, 0.75, 0.5);
    Tensor logarithms = Evaluated.of(new Reduction.Softmax(1, true), x);
    assertThat(logarithms.getDouble(0)).isEqualTo(-1000);
    assertThat(logarithms.getDouble(1)).isCloseTo(0, within(1e-30));
    Tensor unseen = vector(ElementType.F32, -INFINITY, -INFINITY);
    assertThat(Evaluated.of(new Reduction.Softmax(0, false), unseen).doubles())
        .containsExactly(NAN, NAN);
    assertThat(Evaluated.of(new Reduction.Softmax(0, false), vector(ElementType.F32)).size())
        .isZero();
  }
}
