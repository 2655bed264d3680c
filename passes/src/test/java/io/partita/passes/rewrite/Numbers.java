package io.partita.passes.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.data.Offset;

/**
 * A comparison of two graphs on seeded random inputs, with the symbols {@code seq} and {@code past}
 * bound to odd extents.
 *
 * @param tolerance the tolerance of floats, relative to 1 or to their magnitude; 0 requires equal
 *     bits
 * @param bound the bound of i64 inputs that are indices, or 0
 * @param isEvaluated whether numbers are compared
 */
record Numbers(double tolerance, long bound, boolean isEvaluated) {
  static final Numbers EXACT = new Numbers(0, 0, true);

  private static final int SEEDS = 3;
  private static final Map<String, Dim> EXTENTS = Map.of("seq", Dim.of(5), "past", Dim.of(3));

  Numbers within(double tolerated) {
    return new Numbers(tolerated, bound, isEvaluated);
  }

  Numbers indices(long below) {
    return new Numbers(tolerance, below, isEvaluated);
  }

  Numbers none() {
    return new Numbers(tolerance, bound, false);
  }

  void requireAgreement(Graph before, Graph after) {
    if (!isEvaluated) {
      return;
    }
    Graph original = DimensionBinding.bind(before, EXTENTS);
    Graph rewritten = DimensionBinding.bind(after, EXTENTS);
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      List<Tensor> inputs = new ArrayList<>();
      for (Value input : original.inputs()) {
        inputs.add(random(input.type(), random));
      }
      List<Tensor> expected = Evaluator.run(original, inputs);
      List<Tensor> found = Evaluator.run(rewritten, inputs);
      assertThat(found).hasSameSizeAs(expected);
      for (int i = 0; i < expected.size(); i++) {
        requireAgreement(expected.get(i), found.get(i));
      }
    }
  }

  private void requireAgreement(Tensor expected, Tensor found) {
    assertThat(found.type()).isEqualTo(expected.type());
    if (tolerance == 0 || !expected.type().element().isFloat()) {
      assertThat(found).isEqualTo(expected);
      return;
    }
    for (int i = 0; i < expected.size(); i++) {
      double value = expected.getDouble(i);
      if (Double.compare(value, found.getDouble(i)) == 0) {
        continue; // Infinite and NaN, too.
      }
      assertThat(found.getDouble(i))
          .as("element %d", i)
          .isCloseTo(value, Offset.offset(tolerance * Math.max(1, Math.abs(value))));
    }
  }

  /** Returns narrow integers of the whole range, to test wrapping. */
  private Tensor random(TensorType type, Random random) {
    ElementType element = type.element();
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (element) {
            case F64, F32, F16, BF16 -> random.nextGaussian();
            case I4, I8, I16, U4, U8, U16, BOOL, U32 ->
                random.nextLong(element.minimum(), element.maximum() + 1);
            case I32 -> random.nextInt(-1000, 1000);
            case U64 -> random.nextInt(1000);
            case I64 -> bound > 0 ? random.nextLong(bound) : random.nextInt(-1000, 1000);
          };
    }
    return Tensor.ofDoubles(type, values);
  }
}
