package io.partita.driver.cases;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.eval.RandomRounding;
import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.HashMap;
import java.util.Map;

/**
 * Explains differences of models that amplify rounding: a sum in another order changes a last bit,
 * which moves a quantised activation to the next level, or becomes large in a difference of nearly
 * equal numbers. The effect is measured by evaluating the model with {@link RandomRounding}. The
 * recorded outputs and the program's are two further roundings: neither their largest difference
 * nor its root mean square may be more than twice that of the random ones.
 */
final class AmplifiedRounding {
  private static final int SAMPLES = 16;
  private static final double MARGIN = 2;

  /** If rounding alone changes results by this fraction, they can't tell right from wrong. */
  private static final double TELLING = 0.25;

  private AmplifiedRounding() {}

  /** Passes with a note if the difference is explained; otherwise states the effect of rounding. */
  static Comparison explain(Recording recording, Comparison plain) {
    if (!Double.isFinite(plain.maxError())) {
      return plain;
    }
    Graph graph = recording.graph(recording.options());
    boolean isExplained = true;
    double largest = 0;
    try {
      Map<String, Tensor> exact = recording.evaluated(graph, Evaluator::run);
      Map<String, Difference> spreads = new HashMap<>();
      for (int seed = 0; seed < SAMPLES; seed++) {
        long sample = seed;
        recording
            .evaluated(graph, (of, inputs) -> RandomRounding.run(of, inputs, sample))
            .forEach(
                (name, rounded) ->
                    spreads.merge(name, Difference.of(exact.get(name), rounded), Difference::max));
      }
      for (String name : recording.found().keySet()) {
        Difference spread = spreads.get(name);
        largest = Math.max(largest, spread.largest());
        isExplained &= isWithin(recording, name, spread.times(MARGIN));
      }
    } catch (PartitaException notEvaluated) {
      return plain;
    }
    String effect = "other rounding of sums and functions changes results by up to %.3g";
    return isExplained
        ? plain.explained(
            "differs by %.3g; %s".formatted(plain.maxError(), effect.formatted(largest)))
        : plain.with("; " + effect.formatted(largest));
  }

  private static boolean isWithin(Recording recording, String name, Difference bound) {
    Tensor record = recording.expected(name);
    Tensor found = recording.found().get(name);
    if (Comparison.of(name, record, found, recording.tolerance()).passes()) {
      return true;
    }
    return isReal(found.element())
        && Difference.of(record, found).isWithin(bound)
        && bound.rootMeanSquare() <= TELLING * magnitude(record);
  }

  /**
   * Whether the output isn't a position or an index, for which a small difference is also wrong.
   */
  private static boolean isReal(ElementType element) {
    return switch (element) {
      case F64, F32, F16, BF16, I16, I8, I4, U16, U8, U4 -> true;
      case I64, I32, U64, U32, BOOL -> false;
    };
  }

  /** The root of the elements' mean square. */
  private static double magnitude(Tensor tensor) {
    return Difference.of(tensor, Tensor.filled(tensor.type(), 0)).rootMeanSquare();
  }
}
