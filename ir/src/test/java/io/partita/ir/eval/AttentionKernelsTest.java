package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class AttentionKernelsTest {
  private static Structured.Attention attention(boolean causal, long offset, long window) {
    return new Structured.Attention(1, 0, causal, Dim.of(offset), window, false, false);
  }

  /**
   * Scores of at most d and their softmax are off by a few 2^-24 of them, and values are at most 1.
   */
  private static final double TOLERANCE = 1e-5;

  @Property(tries = 60)
  void agreesWithItsComposition(
      @ForAll @IntRange(min = 1, max = 70) int seq,
      @ForAll @IntRange(min = 1, max = 20) int keys,
      @ForAll @IntRange(min = 1, max = 3) int group,
      @ForAll boolean causal,
      @ForAll boolean capped,
      @ForAll @IntRange(max = 4) int window,
      @ForAll long seed) {
    Tensor q = random(seed, 2, 2L * group, seq, 4);
    Tensor k = random(seed + 1, 2, 2, keys, 4);
    Tensor v = random(seed + 2, 2, 2, keys, 3);
    // Additive masks are finite here, and the offset lets each query see the first key.
    Tensor mask = random(seed + 3, 2, 1, 1, keys);
    int offset = window == 0 ? 2 : 0;
    boolean sees = window == 0 || seq <= keys;
    if (!sees) {
      return;
    }
    Structured.Attention op =
        new Structured.Attention(
            0.5, capped ? 0.7 : 0, causal, Dim.of(offset), window, true, false);
    Tensor found = Evaluated.of(op, q, k, v, mask);
    assertThat(found.shape()).isEqualTo(Shape.of(2, 2L * group, seq, 3));
    assertClose(found, composed(op, q, k, v, mask, offset));
  }

  private static void assertClose(Tensor found, Tensor expected) {
    assertThat(found.type()).isEqualTo(expected.type());
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(TOLERANCE));
    }
  }

  private static Tensor composed(
      Structured.Attention op, Tensor q, Tensor k, Tensor v, Tensor mask, int offset) {
    int group = (int) (q.shape().extent(1) / k.shape().extent(1));
    Tensor turned = Evaluated.of(new Movement.Transpose(List.of(0, 1, 3, 2)), repeated(k, group));
    Tensor scores = Evaluated.of(new Contraction.MatMul(ElementType.F32), q, turned);
    scores = binary(BinaryFunction.MUL, scores, op.scale());
    if (op.softCap() > 0) {
      Tensor inside = binary(BinaryFunction.DIV, scores, op.softCap());
      Tensor bent = Evaluated.of(new Elementwise.Unary(UnaryFunction.TANH), inside);
      scores = binary(BinaryFunction.MUL, bent, op.softCap());
    }
    scores = Evaluated.of(new Elementwise.Binary(BinaryFunction.ADD), scores, mask);
    int seq = (int) q.shape().extent(2);
    int keys = (int) k.shape().extent(2);
    float[] hidden = new float[seq * keys];
    for (int i = 0; i < hidden.length; i++) {
      int distance = offset + i / keys - i % keys;
      boolean seen =
          (!op.causal() || distance >= 0) && (op.window() == 0 || distance < op.window());
      hidden[i] = seen ? 0 : Float.NEGATIVE_INFINITY;
    }
    Tensor place = Tensor.floats(Shape.of(seq, keys), hidden);
    scores = Evaluated.of(new Elementwise.Binary(BinaryFunction.ADD), scores, place);
    Tensor weights = Evaluated.of(new Reduction.Softmax(3, false), scores);
    return Evaluated.of(new Contraction.MatMul(ElementType.F32), weights, repeated(v, group));
  }

  private static Tensor binary(BinaryFunction function, Tensor x, double y) {
    return Evaluated.of(new Elementwise.Binary(function), x, Tensor.scalar(ElementType.F32, y));
  }

  /** Repeats each kv head for the query heads that share it. */
  private static Tensor repeated(Tensor x, int group) {
    List<Long> heads = new ArrayList<>();
    for (long head = 0; head < x.shape().extent(1) * group; head++) {
      heads.add(head / group);
    }
    long[] indices = heads.stream().mapToLong(Long::longValue).toArray();
    return Evaluated.of(new Movement.Gather(1), x, Tensor.longs(Shape.of(indices.length), indices));
  }

  @Test
  void fullyMaskedQueriesGiveZeros() {
    Tensor x = random(1, 1, 1, 2, 2);
    Structured.Attention masked = new Structured.Attention(1, 0, false, Dim.ZERO, 0, true, false);
    Tensor mask = Tensor.ofLongs(TensorType.of(ElementType.BOOL, 2, 2), new long[] {0, 0, 0, 1});
    assertThat(Evaluated.of(masked, x, x, x, mask).floats())
        .containsExactly(0, 0, x.floats()[2], x.floats()[3]);
    Tensor minusInfinity =
        Tensor.filled(TensorType.of(ElementType.F32, 1, 1), Double.NEGATIVE_INFINITY);
    assertThat(Evaluated.of(masked, x, x, x, minusInfinity).isFilledWith(0)).isTrue();
    assertThat(Evaluated.of(attention(true, -5, 0), x, x, x).isFilledWith(0)).isTrue();
    Tensor noKeys = random(1, 1, 1, 0, 2);
    assertThat(Evaluated.of(attention(false, 0, 0), x, noKeys, noKeys).isFilledWith(0)).isTrue();
  }

  @Test
  void invalidKeysAreIgnored() {
    Tensor q = random(1, 2, 1, 2, 2);
    float nan = Float.NaN;
    Tensor k = Tensor.floats(Shape.of(2, 1, 3, 2), 1, 2, 3, 4, nan, nan, 1, 2, 3, 4, 5, 6);
    Structured.Attention op = new Structured.Attention(1, 0, true, Dim.ZERO, 0, false, true);
    Tensor found = Evaluated.of(op, q, k, k, Tensor.longs(Shape.of(2), 2, 3));
    // Positions are 0 and 1 in the first batch element: its first query sees the first key alone.
    assertThat(found.floats()).startsWith(1, 2).doesNotContain(nan);
    Tensor second =
        Tensor.floats(Shape.of(1, 1, 2, 2), java.util.Arrays.copyOfRange(q.floats(), 4, 8));
    Tensor secondKeys = Tensor.floats(Shape.of(1, 1, 3, 2), 1, 2, 3, 4, 5, 6);
    assertThat(java.util.Arrays.copyOfRange(found.floats(), 4, 8))
        .isEqualTo(Evaluated.of(attention(true, 1, 0), second, secondKeys, secondKeys).floats());
  }

  @Test
  void otherFloatTypesAgreeWithF64() {
    Tensor q = random(ElementType.F16, 1, 1, 2, 3, 4);
    Tensor wide = Evaluated.of(new Elementwise.Cast(ElementType.F64), q);
    Tensor expected = Evaluated.of(attention(true, 0, 0), wide, wide, wide);
    Tensor found = Evaluated.of(attention(true, 0, 0), q, q, q);
    for (int i = 0; i < found.size(); i++) {
      // One rounding to f16 of a value below 1.
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(0x1p-11));
    }
  }

  @Test
  void rotatesPairs() {
    Tensor x = Tensor.floats(Shape.of(1, 1, 2, 5), 1, 2, 3, 4, 5, 1, 2, 3, 4, 5);
    Tensor cosines = Tensor.floats(Shape.of(1, 2, 2), 1, 1, 0, 2);
    Tensor sines = Tensor.floats(Shape.of(1, 2, 2), 0, 0, 1, 3);
    assertThat(Evaluated.of(new Structured.RotaryEmbedding(false), x, cosines, sines).floats())
        .containsExactly(1, 2, 3, 4, 5, -3, 4 - 12, 1, 8 + 6, 5);
    assertThat(Evaluated.of(new Structured.RotaryEmbedding(true), x, cosines, sines).floats())
        .containsExactly(1, 2, 3, 4, 5, -2, 1, 6 - 12, 8 + 9, 5);
  }
}
