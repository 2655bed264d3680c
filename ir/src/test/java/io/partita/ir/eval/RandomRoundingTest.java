package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomRoundingTest {
  private static Graph graph(Op op, Tensor... operands) {
    GraphBuilder builder = new GraphBuilder("g");
    List<Value> values = new ArrayList<>();
    for (Tensor operand : operands) {
      values.add(builder.input("x" + values.size(), operand.type()));
    }
    builder.output("y", builder.add(op, values));
    return builder.finish();
  }

  private static Tensor rounded(long seed, Op op, Tensor... operands) {
    return RandomRounding.run(graph(op, operands), List.of(operands), seed).getFirst();
  }

  @Test
  void exactlyRoundedOperationsAreNotPerturbed() {
    Tensor x = Evaluated.random(1, 5);
    Tensor y = Evaluated.random(2, 5);
    for (BinaryFunction function :
        List.of(BinaryFunction.ADD, BinaryFunction.MUL, BinaryFunction.DIV, BinaryFunction.MAX)) {
      Op op = new Elementwise.Binary(function);
      assertThat(rounded(1, op, x, y)).isEqualTo(Evaluated.of(op, x, y));
    }
    Op root = new Elementwise.Unary(UnaryFunction.SQRT);
    assertThat(rounded(1, root, x)).isEqualTo(Evaluated.of(root, x));
    Op largest = new Reduction.Reduce(ReductionKind.MAX, List.of(0), false);
    assertThat(rounded(1, largest, x)).isEqualTo(Evaluated.of(largest, x));
  }

  @Test
  void sumsArePerturbedInTheirLastBits() {
    Tensor x = Evaluated.random(1, 3, 7);
    Tensor y = Evaluated.random(2, 7, 4);
    Op product = new Contraction.MatMul(ElementType.F32);
    Tensor exact = Evaluated.of(product, x, y);
    Tensor first = rounded(1, product, x, y);
    assertThat(rounded(1, product, x, y)).isEqualTo(first);
    assertThat(first).isNotEqualTo(exact).isNotEqualTo(rounded(2, product, x, y));
    for (int i = 0; i < exact.size(); i++) {
      // Seven terms of at most 1, each with one unit on either side, and the result.
      assertThat(first.getDouble(i)).isCloseTo(exact.getDouble(i), within(16 * 0x1p-23));
    }
  }

  @Test
  void halfPrecisionIsPerturbedInItsOwnLastBits() {
    Tensor x = Evaluated.random(ElementType.F16, 1, 9);
    Op function = new Elementwise.Unary(UnaryFunction.TANH);
    Tensor exact = Evaluated.of(function, x);
    Tensor found = rounded(1, function, x);
    assertThat(found).isNotEqualTo(exact);
    for (int i = 0; i < exact.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(exact.getDouble(i), within(3 * 0x1p-10));
    }
  }

  @Test
  void countsAndMasksAreNotPerturbed() {
    double infinity = Double.POSITIVE_INFINITY;
    Tensor mask = Evaluated.vector(ElementType.F32, 1, 0, 1, 1);
    Op sum = new Reduction.Reduce(ReductionKind.SUM, List.of(0), false);
    assertThat(rounded(1, sum, mask)).isEqualTo(Tensor.floats(Shape.SCALAR, 3));
    Tensor shut = Evaluated.vector(ElementType.F32, 0, -infinity);
    Op softmax = new Reduction.Softmax(0, false);
    assertThat(rounded(1, softmax, shut)).isEqualTo(Tensor.floats(Shape.of(2), 1, 0));
  }

  @Test
  void valuesBetweenTwoLevelsRoundToEither() {
    Op quantize = new Quantized.Quantize(0, 0, ElementType.I8);
    Tensor x = Evaluated.vector(ElementType.F32, 0.75, 0.7);
    Tensor scale = Tensor.scalar(ElementType.F32, 0.5);
    Tensor zeroPoint = Tensor.scalar(ElementType.I8, 0);
    Set<Long> first = new HashSet<>();
    for (int seed = 0; seed < 20; seed++) {
      Tensor levels = rounded(seed, quantize, x, scale, zeroPoint);
      first.add(levels.getLong(0));
      assertThat(levels.getLong(1)).isEqualTo(1);
    }
    assertThat(first).containsExactlyInAnyOrder(1L, 2L);
  }
}
