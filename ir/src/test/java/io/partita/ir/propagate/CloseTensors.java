package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.tensor.Tensor;
import java.util.List;

/** Compares results of a model that is computed in parts and as a whole. */
public final class CloseTensors {
  private CloseTensors() {}

  /**
   * Integers are equal; floats to 1e-4 of the largest magnitude: a few blocks of sums of at most 64
   * products, each rounded to 2^-24.
   */
  public static void verify(List<Tensor> actual, List<Tensor> expected) {
    for (int i = 0; i < expected.size(); i++) {
      verify(actual.get(i), expected.get(i));
    }
  }

  private static void verify(Tensor actual, Tensor expected) {
    if (!expected.element().isFloat()) {
      assertThat(actual).isEqualTo(expected);
      return;
    }
    assertThat(actual.type()).isEqualTo(expected.type());
    double magnitude = 0;
    for (double value : expected.doubles()) {
      magnitude = Math.max(magnitude, Double.isFinite(value) ? Math.abs(value) : 0);
    }
    for (int at = 0; at < expected.size(); at++) {
      double x = actual.getDouble(at);
      double y = expected.getDouble(at);
      if (Double.compare(x, y) != 0 && x != y) {
        assertThat(Math.abs(x - y)).isLessThanOrEqualTo(1e-4 * (1 + magnitude));
      }
    }
  }
}
