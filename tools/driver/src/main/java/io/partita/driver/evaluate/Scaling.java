package io.partita.driver.evaluate;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;

/**
 * The scaling of data to inputs of a model: {@code (x - mean) / deviation}, after dividing bytes by
 * 255.
 */
public record Scaling(double mean, double deviation) {
  private static final double MAX_BYTE = 255;

  public static final Scaling NONE = new Scaling(0, 1);

  double apply(Tensor data, int index) {
    double value = data.getDouble(index);
    double unit = data.element() == ElementType.U8 ? value / MAX_BYTE : value;
    return (unit - mean) / deviation;
  }
}
