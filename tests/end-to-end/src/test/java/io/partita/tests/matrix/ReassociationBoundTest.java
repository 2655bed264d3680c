package io.partita.tests.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests that other orders of sums are within the bound, and errors are not. */
class ReassociationBoundTest {
  private static final int FEATURES = 32;
  private static final int INNER = 96;
  private static final TensorType X = type(ElementType.F32, 4, FEATURES);

  private static TensorType type(ElementType element, long... extents) {
    return new TensorType(element, Shape.of(extents));
  }

  private static Tensor random(TensorType type, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int size = (int) type.shape().elements();
    return type.element().isFloat()
        ? Tensor.ofDoubles(type, random.doubles(size, -1, 1).toArray())
        : Tensor.ofLongs(type, random.longs(size, -8, 8).toArray());
  }

  /** Returns a network with a skip connection, and with its inner features in {@code parts}. */
  private static Graph network(int parts, Tensor bias, int biases) {
    GraphBuilder builder = new GraphBuilder("network");
    Value x = builder.input("x", X);
    Tensor up = random(type(ElementType.F32, FEATURES, INNER), 1);
    Tensor down = random(type(ElementType.F32, INNER, FEATURES), 2);
    int size = INNER / parts;
    Value sum = x;
    for (int part = 0; part < parts; part++) {
      Value first = builder.constant(columns(up, part * size, size));
      Value second = builder.constant(rows(down, part * size, size));
      Structured.Ffn ffn =
          new Structured.Ffn(UnaryFunction.GELU, false, false, false, part < biases);
      Value term =
          part < biases
              ? builder.add(ffn, x, first, second, builder.constant(bias))
              : builder.add(ffn, x, first, second);
      sum = builder.add(new Elementwise.Binary(BinaryFunction.ADD), sum, term);
    }
    builder.output("y", sum);
    return builder.finish();
  }

  private static Tensor columns(Tensor matrix, int from, int size) {
    int rows = (int) matrix.shape().extent(0);
    double[] part = new double[rows * size];
    for (int i = 0; i < part.length; i++) {
      part[i] = matrix.getDouble(i / size * (int) matrix.shape().extent(1) + from + i % size);
    }
    return Tensor.ofDoubles(type(ElementType.F32, rows, size), part);
  }

  private static Tensor rows(Tensor matrix, int from, int size) {
    int columns = (int) matrix.shape().extent(1);
    double[] part = new double[size * columns];
    for (int i = 0; i < part.length; i++) {
      part[i] = matrix.getDouble(from * columns + i);
    }
    return Tensor.ofDoubles(type(ElementType.F32, size, columns), part);
  }

  private static double difference(Tensor left, Tensor right) {
    double largest = 0;
    for (int i = 0; i < left.size(); i++) {
      largest = Math.max(largest, Math.abs(left.getDouble(i) - right.getDouble(i)));
    }
    return largest;
  }

  @Test
  void tiledSumsAreWithinATightBound() {
    Tensor bias = random(type(ElementType.F32, FEATURES), 3);
    List<Tensor> inputs = List.of(random(X, 4));
    ReassociationBound bound = ReassociationBound.of(network(1, bias, 1), inputs);
    for (int parts : List.of(2, 3, 6, 16)) {
      Tensor other = Evaluator.run(network(parts, bias, 1), inputs).getFirst();
      assertThat(difference(bound.outputs().getFirst(), other))
          .isBetween(bound.of(0) / 1000, bound.of(0));
    }
  }

  @Test
  void doubledBiasesExceedTheBound() {
    Tensor bias = Tensor.filled(type(ElementType.F32, FEATURES), 1e-3);
    List<Tensor> inputs = List.of(random(X, 4));
    ReassociationBound bound = ReassociationBound.of(network(1, bias, 1), inputs);
    Tensor twice = Evaluator.run(network(2, bias, 2), inputs).getFirst();
    assertThat(difference(bound.outputs().getFirst(), twice)).isGreaterThan(2 * bound.of(0));
  }

  @Test
  void integersMayNotDiffer() {
    GraphBuilder builder = new GraphBuilder("integers");
    Value x = builder.input("x", type(ElementType.I8, 4, FEATURES));
    Value weight = builder.constant(random(type(ElementType.I8, FEATURES, INNER), 5));
    builder.output("y", builder.add(new Contraction.MatMul(ElementType.I32), x, weight));
    Graph graph = builder.finish();
    Tensor input = random(graph.inputs().getFirst().type(), 6);
    assertThat(ReassociationBound.of(graph, List.of(input)).of(0)).isZero();
  }

  /** Tests that a sum rounded to steps of 1/64 may differ by one step only. */
  @Test
  void valuesMayCrossAStep() {
    GraphBuilder builder = new GraphBuilder("steps");
    Value x = builder.input("x", type(ElementType.F32, 64, FEATURES));
    Value weight = builder.constant(random(type(ElementType.F32, FEATURES, INNER), 5));
    Value sum = builder.add(new Contraction.MatMul(ElementType.F32), x, weight);
    Value scale = builder.constant(Tensor.scalar(ElementType.F32, 1.0 / 64));
    Value zero = builder.constant(Tensor.scalar(ElementType.I16, 0));
    Value steps = builder.add(new Quantized.Quantize(0, 0, ElementType.I16), sum, scale, zero);
    builder.output(
        "y", builder.add(new Quantized.Dequantize(0, 0, ElementType.F32), steps, scale, zero));
    Graph graph = builder.finish();
    ReassociationBound bound =
        ReassociationBound.of(graph, List.of(random(graph.inputs().getFirst().type(), 6)));
    assertThat(bound.hasSteps()).isTrue();
    assertThat(bound.of(0)).isBetween(1.0 / 64, 1.1 / 64);
  }
}
