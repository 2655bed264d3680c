package io.partita.driver.cases;

import io.partita.frontend.onnx.RuntimeDeviation;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.eval.SaturatedPairs;
import io.partita.ir.graph.Graph;
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

  private static final String SATURATION =
      "adding pairs of products of u8 and i8 in 16 bits, which saturate, as ONNX Runtime does on x86"
          + " without VNNI and the recorded run did,";

  private KnownDeviations() {}

  /** Passes with a note if operators that ONNX Runtime computes differently explain it. */
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
    }
    String what =
        departures.stream().map(RuntimeDeviation::text).collect(Collectors.joining(" and "));
    return Optional.of(explained(plain, what, exact, departing));
  }

  /**
   * Passes with a note if the recorded run multiplied bytes by instructions that saturate. What the
   * program and the recorded run differ by from the two evaluations may be rounding that the model
   * amplifies, as activations that are quantized do.
   */
  static Optional<Comparison> explainSaturation(Recording recording, Comparison plain) {
    Graph graph = recording.graph(recording.options());
    if (!SaturatedPairs.concerns(graph)) {
      return Optional.empty();
    }
    Map<String, Tensor> exact = recording.evaluated(graph, Evaluator::run);
    Map<String, Tensor> saturated = recording.evaluated(graph, SaturatedPairs::run);
    boolean explains = agree(recording.of(saturated)) && agree(recording.expecting(exact));
    return explains
        ? Optional.of(explained(plain, SATURATION, exact, saturated))
        : Optional.empty();
  }

  private static boolean agree(Recording recording) {
    Comparison plain =
        Comparison.worst(recording.expected(), recording.found(), recording.tolerance());
    return plain.passes() || AmplifiedRounding.explain(recording, plain).passes();
  }

  private static Comparison explained(
      Comparison plain, String what, Map<String, Tensor> exact, Map<String, Tensor> departing) {
    double largest =
        exact.keySet().stream()
            .mapToDouble(name -> Difference.of(exact.get(name), departing.get(name)).largest())
            .max()
            .orElse(0);
    return plain.explained("exact; %s changes results by up to %.3g".formatted(what, largest));
  }
}
