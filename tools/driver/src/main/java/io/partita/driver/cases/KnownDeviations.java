package io.partita.driver.cases;

import io.partita.frontend.onnx.RuntimeDeviation;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Explains differences of models for which ONNX Runtime deviates from the standard. Instead of a
 * wider tolerance, it makes two comparisons: the recorded outputs with an evaluation that deviates
 * in the same way, and the program with an exact one.
 */
final class KnownDeviations {
  /**
   * Rounding of the last bit may move an activation to the next of 255 levels, so the recorded
   * outputs are met less closely than without rounding: within a tenth of the effect of rounding.
   */
  private static final double SHARE = 0.1;

  private KnownDeviations() {}

  /** Passes with a note if the difference is explained. */
  static Optional<Comparison> explain(Recording recording, Comparison plain) {
    List<RuntimeDeviation> departures = recording.model().departures();
    if (departures.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Tensor> exact =
        recording.evaluated(recording.graph(recording.options()), Evaluator::run);
    Map<String, Tensor> departing =
        recording.evaluated(recording.graph(recording.options().withDepartures()), Evaluator::run);
    Tolerance tolerance = recording.tolerance();
    double largest = 0;
    for (Map.Entry<String, Tensor> output : recording.found().entrySet()) {
      String name = output.getKey();
      Tensor record = recording.expected(name);
      double effect = Difference.of(exact.get(name), departing.get(name)).largest();
      boolean explains =
          Comparison.of(name, exact.get(name), output.getValue(), tolerance).passes()
              && (Comparison.of(name, record, departing.get(name), tolerance).passes()
                  || Difference.of(record, departing.get(name)).largest() <= SHARE * effect);
      if (!explains) {
        return Optional.empty();
      }
      largest = Math.max(largest, effect);
    }
    String what =
        departures.stream().map(RuntimeDeviation::text).collect(Collectors.joining(" and "));
    return Optional.of(
        plain.explained("exact; %s changes results by up to %.3g".formatted(what, largest)));
  }
}
