package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SaturatedPairsTest {
  private static Tensor bytes(ElementType element, Random random, long... extents) {
    TensorType type = TensorType.of(element, extents);
    long[] values = new long[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = element == ElementType.U8 ? random.nextInt(256) : random.nextInt(256) - 128;
    }
    return Tensor.ofLongs(type, values);
  }

  /** What {@code vpmaddubsw} and exact sums of its results give, computed as its manual says. */
  private static long[] saturated(Tensor left, Tensor right, int rows, int inner, int columns) {
    long[] sums = new long[rows * columns];
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        for (int k = 0; k < inner; k += 2) {
          long pair = left.getLong(i * inner + k) * right.getLong(k * columns + j);
          if (k + 1 < inner) {
            pair += left.getLong(i * inner + k + 1) * right.getLong((k + 1) * columns + j);
          }
          sums[i * columns + j] += Math.clamp(pair, -32768, 32767);
        }
      }
    }
    return sums;
  }

  private static Graph product(Tensor left, Tensor right) {
    GraphBuilder builder = new GraphBuilder("g");
    Value a = builder.input("a", left.type());
    Value b = builder.input("b", right.type());
    builder.output("y", builder.add(new Contraction.MatMul(ElementType.I32), a, b));
    return builder.finish();
  }

  @Test
  void pairsSaturateAtBothEnds() {
    Tensor left =
        Tensor.ofLongs(TensorType.of(ElementType.U8, 2, 3), new long[] {255, 255, 255, 255, 1, 2});
    Tensor right =
        Tensor.ofLongs(
            TensorType.of(ElementType.I8, 3, 2), new long[] {127, -128, 127, -128, 1, 2});
    Graph graph = product(left, right);
    assertThat(SaturatedPairs.concerns(graph)).isTrue();
    assertThat(SaturatedPairs.run(graph, List.of(left, right)).getFirst().longs())
        .containsExactly(32767 + 255, -32768 + 510, 255 * 127 + 127 + 2, 255 * -128 - 128 + 4);
    assertThat(Evaluator.run(graph, List.of(left, right)).getFirst().getLong(0))
        .isEqualTo(2 * 255 * 127 + 255);
  }

  @Test
  void batchesAndOddExtents() {
    Random random = new Random(3);
    Tensor left = bytes(ElementType.U8, random, 2, 5, 33);
    Tensor right = bytes(ElementType.I8, random, 33, 301);
    Tensor found = SaturatedPairs.run(product(left, right), List.of(left, right)).getFirst();
    assertThat(found.shape()).isEqualTo(Shape.of(2, 5, 301));
    assertThat(found.longs()).containsExactly(saturated(left, right, 10, 33, 301));
  }

  @Test
  void otherBytesAreExact() {
    Random random = new Random(4);
    for (ElementType left : List.of(ElementType.U8, ElementType.I8)) {
      for (ElementType right : List.of(ElementType.U8, ElementType.I8)) {
        Tensor a = bytes(left, random, 3, 64);
        Tensor b = bytes(right, random, 64, 7);
        Graph graph = product(a, b);
        boolean saturates = left == ElementType.U8 && right == ElementType.I8;
        assertThat(SaturatedPairs.concerns(graph)).isEqualTo(saturates);
        boolean isExact =
            SaturatedPairs.run(graph, List.of(a, b)).equals(Evaluator.run(graph, List.of(a, b)));
        assertThat(isExact).isEqualTo(!saturates);
      }
    }
  }

  /** A product and a layer of bytes that are dequantized first, with a scale for each column. */
  @Test
  void dequantizedBytes() {
    Random random = new Random(5);
    int rows = 4;
    int inner = 66;
    int columns = 9;
    Tensor left = bytes(ElementType.U8, random, rows, inner);
    Tensor right = bytes(ElementType.I8, random, inner, columns);
    double[] scales = random.doubles(columns, 0.005, 0.01).map(scale -> (float) scale).toArray();
    long[] saturated = saturated(left, right, rows, inner, columns);
    for (boolean isLayer : new boolean[] {false, true}) {
      GraphBuilder builder = new GraphBuilder("g");
      Value q = builder.input("q", left.type());
      Value step = builder.add(new Source.Constant(Tensor.scalar(ElementType.F32, 0.5)));
      Value origin = builder.add(new Source.Constant(Tensor.scalar(ElementType.U8, 7)));
      Value x = builder.add(new Quantized.Dequantize(0, 0, ElementType.F32), q, step, origin);
      Value steps = builder.add(new Source.Constant(Evaluated.vector(ElementType.F32, scales)));
      Value zero = builder.add(new Source.Constant(Tensor.scalar(ElementType.I8, 0)));
      Value zeros = builder.add(new Movement.Broadcast(Shape.of(columns)), zero);
      Value w = builder.add(new Source.Constant(right));
      Value weight = builder.add(new Quantized.Dequantize(1, 0, ElementType.F32), w, steps, zeros);
      Value y =
          isLayer
              ? builder.add(
                  new Structured.Linear(true, false),
                  x,
                  builder.add(new Movement.Transpose(List.of(1, 0)), weight))
              : builder.add(new Contraction.MatMul(ElementType.F32), x, weight);
      builder.output("y", y);
      Graph graph = builder.finish();
      assertThat(SaturatedPairs.concerns(graph)).isTrue();
      Tensor found = SaturatedPairs.run(graph, List.of(left)).getFirst();
      for (int i = 0; i < saturated.length; i++) {
        long sums = 0;
        for (int k = 0; k < inner; k++) {
          sums += right.getLong(k * columns + i % columns);
        }
        double expected = (saturated[i] - 7 * sums) * 0.5 * scales[i % columns];
        // 66 roundings of sums of at most 255 · 128 · 66 · 0.005.
        assertThat(found.getDouble(i)).isCloseTo(expected, within(0.05));
      }
    }
  }
}
