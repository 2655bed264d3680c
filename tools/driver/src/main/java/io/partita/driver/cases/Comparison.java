package io.partita.driver.cases;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The result of comparing an output with the recorded one.
 *
 * @param worst the largest error of all elements, as a multiple of the tolerance; above 1 fails
 * @param maxError the largest absolute difference
 * @param message where and how the first or worst element differs; empty when it passes
 * @param note a note about a result that passes; usually empty
 * @param rewriteError of a model whose syncs are rewritten: the relative L2 error of the output
 */
public record Comparison(
    double worst, double maxError, String message, String note, OptionalDouble rewriteError) {
  public Comparison(double worst, double maxError, String message) {
    this(worst, maxError, message, "", OptionalDouble.empty());
  }

  /** Returns this comparison as passed, with a note. */
  Comparison explained(String why) {
    return new Comparison(1, maxError, "", why, rewriteError);
  }

  /** Returns this comparison with additional text about the difference. */
  Comparison with(String more) {
    return new Comparison(worst, maxError, message + more, note, rewriteError);
  }

  /** Returns this comparison with the relative error that rewritten syncs cause. */
  Comparison rewritten(double error) {
    return new Comparison(worst, maxError, message, note, OptionalDouble.of(error));
  }

  public boolean passes() {
    return message.isEmpty();
  }

  /**
   * Compares all outputs by name, and returns the comparison of the one with the largest error.
   *
   * @param expected in any shape that differs only in extents of 1
   */
  static Comparison worst(
      Map<String, Tensor> expected, Map<String, Tensor> found, Tolerance tolerance) {
    Comparison worst = new Comparison(0, 0, "");
    for (Map.Entry<String, Tensor> output : found.entrySet()) {
      Tensor record = expected.get(output.getKey());
      if (RecordedRun.sameBut1(record.shape(), output.getValue().shape())) {
        record = record.reshaped(output.getValue().shape());
      }
      Comparison comparison = of(output.getKey(), record, output.getValue(), tolerance);
      worst = comparison.worst() > worst.worst() ? comparison : worst;
    }
    return worst;
  }

  /**
   * Compares element by element. Recorded data may have another element type than the result
   * (integers in float arrays are common); values are compared. Shapes must agree.
   */
  public static Comparison of(String name, Tensor expected, Tensor found, Tolerance tolerance) {
    if (!expected.shape().equals(found.shape())) {
      return failure(
          "output '%s': expected shape %s, found %s"
              .formatted(name, expected.shape(), found.shape()));
    }
    boolean floats = found.element().isFloat() && expected.element().isFloat();
    double relative = floats ? tolerance.relative(found.element()) : 0;
    double absolute = floats ? tolerance.absolute(found.element()) : 0;
    double worst = 0;
    double maxError = 0;
    int worstIndex = -1;
    for (int i = 0; i < expected.size(); i++) {
      double error =
          floats || mixed(expected, found)
              ? error(expected.getDouble(i), found.getDouble(i))
              : expected.getLong(i) == found.getLong(i)
                  ? 0
                  : Math.max(1, error(expected.getDouble(i), found.getDouble(i)));
      double allowed = absolute + relative * finite(Math.abs(expected.getDouble(i)));
      double ratio = error == 0 ? 0 : error / allowed;
      maxError = Math.max(maxError, error);
      if (ratio > worst) {
        worst = ratio;
        worstIndex = i;
      }
    }
    if (worst <= 1) {
      return new Comparison(worst, maxError, "");
    }
    return new Comparison(
        worst,
        maxError,
        "output '%s'%s: expected %s, found %s (allowed ±%.3g; largest difference %.3g)"
            .formatted(
                name,
                index(expected.shape(), worstIndex),
                element(expected, worstIndex),
                element(found, worstIndex),
                absolute + relative * finite(Math.abs(expected.getDouble(worstIndex))),
                maxError));
  }

  static Comparison failure(String message) {
    return new Comparison(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, message);
  }

  private static boolean mixed(Tensor left, Tensor right) {
    return left.element().isFloat() != right.element().isFloat();
  }

  private static double finite(double magnitude) {
    return Double.isFinite(magnitude) ? magnitude : 0;
  }

  /** NaN agrees only with NaN, an infinity only with itself. */
  private static double error(double expected, double found) {
    if (Double.isNaN(expected) || Double.isNaN(found)) {
      return Double.isNaN(expected) && Double.isNaN(found) ? 0 : Double.POSITIVE_INFINITY;
    }
    return expected == found ? 0 : Math.abs(expected - found);
  }

  private static String element(Tensor tensor, int index) {
    return tensor.element().isFloat()
        ? Double.toString(tensor.getDouble(index))
        : Long.toString(tensor.getLong(index));
  }

  private static String index(Shape shape, int flat) {
    long[] index = new long[shape.rank()];
    long rest = flat;
    for (int axis = shape.rank() - 1; axis >= 0; axis--) {
      index[axis] = rest % shape.extent(axis);
      rest /= shape.extent(axis);
    }
    return Arrays.toString(index).replace(" ", "");
  }
}
