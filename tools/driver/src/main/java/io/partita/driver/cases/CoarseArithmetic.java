package io.partita.driver.cases;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.tensor.Tensor;
import java.util.Map;

/**
 * Explains differences of chips that compute with fewer bits than the recorded run. A run with
 * probes tells whether each launch is within what its kernel may compute of its own operands, and
 * the outputs of the program must correlate with those of the model.
 */
final class CoarseArithmetic {
  /** A relative error of 0.14 is a correlation of 0.99. */
  private static final double MOST_RELATIVE_ERROR = 0.14;

  private CoarseArithmetic() {}

  /**
   * Passes with a note if the difference is explained; otherwise states why it isn't.
   *
   * @param plain how the program's outputs differ from the recorded ones
   * @param launches the run with probes
   * @param evaluated how those of the reference evaluator do, and its outputs
   */
  static Comparison explain(
      Comparison plain,
      ProbeComparison.Result launches,
      Comparison evaluated,
      Recording recording,
      Map<String, Tensor> exact) {
    if (launches.finding().isPresent()) {
      return plain.with("; " + launches.finding().get().line());
    }
    if (!evaluated.passes()) {
      return plain.with("; the reference evaluator differs too: " + evaluated.message());
    }
    double largest = 0;
    for (Map.Entry<String, Tensor> output : recording.found().entrySet()) {
      Tensor found = output.getValue();
      Tensor right = exact.get(output.getKey()).reshaped(found.shape());
      if (Comparison.of(output.getKey(), right, found, recording.tolerance()).passes()) {
        continue;
      }
      if (!found.element().isFloat()) {
        return plain;
      }
      double error = relativeError(right, found);
      // Of what isn't a number, nothing is known.
      if (!(error <= MOST_RELATIVE_ERROR)) {
        return plain.with("; relative error %.2g of output '%s'".formatted(error, output.getKey()));
      }
      largest = Math.max(largest, error);
    }
    return plain.explained(
        "differs by %.3g, relative error %.2g; each of %d launches is within what its kernel may compute"
            .formatted(plain.maxError(), largest, launches.steps()));
  }

  /** The L2 norm of the difference, relative to that of the output. */
  private static double relativeError(Tensor expected, Tensor found) {
    Tensor zeros = Tensor.filled(expected.type(), 0);
    return Difference.of(expected, found).rootMeanSquare()
        / Difference.of(expected, zeros).rootMeanSquare();
  }
}
