package io.partita.ir.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Offset.offset;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IntegerAttentionTest {
  private static final double SCALE = 0.002;
  private static final double VALUE_SCALE = 0.25;

  private final Random random = new Random(3);

  @Test
  void weightsAreNearAndFall() {
    float unit = IntegerAttention.unit(1e-4);
    int before = IntegerAttention.LARGEST_WEIGHT;
    for (int below = 0; below < 200_000; below++) {
      int weight = IntegerAttention.weight(below, unit);
      assertThat(weight).isBetween(before - 1, before);
      assertThat(Math.abs(weight - 255 * Math.exp(-1e-4 * below))).isLessThan(0.57);
      before = weight;
    }
    assertThat(IntegerAttention.weight(0, unit)).isEqualTo(255);
    assertThat(IntegerAttention.weight(Integer.MAX_VALUE, unit)).isZero();
  }

  @Test
  void isNearTheAttentionOfFloats() {
    for (int round = 0; round < 20; round++) {
      boolean causal = random.nextBoolean();
      List<Tensor> operands =
          List.of(bytes(2, 4, 5, 8), bytes(2, 2, 9, 8), bytes(2, 2, 9, 6), mask(2, 1, 5, 9));
      List<Tensor> reals =
          IntStream.range(0, operands.size()).mapToObj(i -> real(operands.get(i), i)).toList();
      float[] exact = OpEvaluator.evaluate(attention(causal, 0), reals).getFirst().floats();
      float[] found =
          OpEvaluator.evaluate(attention(causal, VALUE_SCALE), operands).getFirst().floats();
      // Nine weights and their sum are off by 0.57 of 255 each, values are up to 128, and a mask is
      // off by half of the scale.
      double bound = 128 * VALUE_SCALE * (2 * 9 * 0.57 / 255 + SCALE);
      for (int i = 0; i < exact.length; i++) {
        assertThat((double) found[i]).isCloseTo(exact[i] * VALUE_SCALE, offset(bound));
      }
    }
  }

  private static Structured.Attention attention(boolean causal, double valueScale) {
    return new Structured.Attention(SCALE, 0, causal, Dim.of(4), 0, true, false, valueScale);
  }

  private Tensor bytes(long... extents) {
    TensorType type = TensorType.of(ElementType.I8, extents);
    return Tensor.ofLongs(type, random.longs(type.shape().elements(), -128, 128).toArray());
  }

  private Tensor mask(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    double[] all = random.doubles(type.shape().elements(), -2, 2).toArray();
    all[3] = Double.NEGATIVE_INFINITY;
    return Tensor.ofDoubles(type, all);
  }

  private static Tensor real(Tensor x, int operand) {
    return operand == 3 ? x : Tensor.ofDoubles(x.type().with(ElementType.F32), x.doubles());
  }

  @Test
  void operandsAreBytes() {
    TensorType mask = TensorType.of(ElementType.F32, 2, 2);
    TensorType unsigned = TensorType.of(ElementType.U8, 1, 1, 2, 4);
    assertThatThrownBy(
            () -> attention(false, 1).resultTypes(List.of(unsigned, unsigned, unsigned, mask)))
        .hasMessageContaining("queries of i8");
    TensorType bytes = TensorType.of(ElementType.I8, 1, 1, 2, 4);
    assertThat(attention(false, 1).resultTypes(List.of(bytes, bytes, bytes, mask)))
        .containsExactly(TensorType.of(ElementType.F32, 1, 1, 2, 4));
  }
}
