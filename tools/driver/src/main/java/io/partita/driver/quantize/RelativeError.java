package io.partita.driver.quantize;

import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The relative L2 distance of values. */
final class RelativeError {
  private RelativeError() {}

  /** Returns the distance of all values of some names in samples. */
  static double of(
      List<Map<String, Tensor>> wanted, List<Map<String, Tensor>> found, Set<String> names) {
    double difference = 0;
    double whole = 0;
    for (int sample = 0; sample < wanted.size(); sample++) {
      for (String name : names) {
        Tensor one = wanted.get(sample).get(name);
        Tensor other = found.get(sample).get(name);
        for (int i = 0; i < one.size(); i++) {
          double value = one.getDouble(i);
          double delta = other.getDouble(i) - value;
          difference += delta * delta;
          whole += value * value;
        }
      }
    }
    return whole == 0 ? 0 : Math.sqrt(difference / whole);
  }

  static double of(float[] wanted, float[] found) {
    double difference = 0;
    double whole = 0;
    for (int i = 0; i < wanted.length; i++) {
      double delta = (double) found[i] - wanted[i];
      difference += delta * delta;
      whole += (double) wanted[i] * wanted[i];
    }
    return whole == 0 ? 0 : Math.sqrt(difference / whole);
  }

  /** Returns the ratio of signal to noise of a relative error. */
  static double decibels(double error) {
    return -20 * Math.log10(error);
  }
}
