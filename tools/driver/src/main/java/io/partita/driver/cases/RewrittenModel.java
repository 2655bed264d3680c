package io.partita.driver.cases;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A distributed model that computes something else than the recorded one: its devices exchange
 * approximations, or continue with values of their own. The difference from the recorded outputs is
 * the cost of the rewritten syncs; it decides only if the user chose a tolerance. Whether a program
 * of the model is correct follows from the reference evaluation of the rewritten model:
 *
 * <ul>
 *   <li>its outputs agree within the default tolerance, or
 *   <li>its error, relative to the recorded outputs, is at most twice that of the evaluation. A
 *       last bit may change a code of few bits, and this a result by as much as the rewrite does,
 *       so two correct programs can differ in elements but not in the size of their errors.
 * </ul>
 */
public final class RewrittenModel {
  private static final double MARGIN = 2;

  /** A relative error that doesn't tell an approximation from a wrong result. */
  private static final double TELLING = 0.5;

  private final Module module;

  private RewrittenModel(Module module) {
    this.module = module;
  }

  /** Returns the rewritten model; empty if a module computes what it did on one device. */
  public static Optional<RewrittenModel> of(Module module) {
    boolean isRewritten =
        module.placement().isPresent()
            && module.graph().nodes().stream()
                .map(Node::op)
                .anyMatch(RewrittenModel::isApproximate);
    return isRewritten ? Optional.of(new RewrittenModel(module)) : Optional.empty();
  }

  private static boolean isApproximate(Op op) {
    return op instanceof Communication.Variation
        || op instanceof Communication.Sync sync && !sync.codec().equals(Codec.EXACT);
  }

  /**
   * Judges a run of the program.
   *
   * @param plain the comparison with the recorded outputs
   * @param inputs the recorded inputs by name
   * @param recorded the recorded outputs by name
   * @param found the program's outputs by name
   * @param isChosen whether the user chose the tolerance of {@code plain}
   */
  Comparison judge(
      Comparison plain,
      Map<String, Tensor> inputs,
      Map<String, Tensor> recorded,
      Map<String, Tensor> found,
      boolean isChosen) {
    if (!Double.isFinite(plain.maxError())) {
      return plain;
    }
    Map<String, Tensor> expected = evaluated(inputs);
    Comparison program = Comparison.worst(expected, found, Tolerance.DEFAULT);
    double error = error(recorded, found);
    double reference = error(recorded, expected);
    if (!program.passes() && error > Math.min(MARGIN * reference, TELLING)) {
      return new Comparison(
          program.worst(),
          plain.maxError(),
          "relative error %.2g, but %.2g in the evaluation of the model with these syncs; %s"
              .formatted(error, reference, program.message()));
    }
    String effect =
        "rewritten syncs change results by up to %.3g, relative error %.2g"
                .formatted(plain.maxError(), error)
            + (program.passes()
                ? "; so they do in the reference evaluation"
                : ", and %.2g in the reference evaluation, which rounds codes differently"
                    .formatted(reference));
    Comparison judged =
        plain.passes() || !isChosen ? plain.explained(effect) : plain.with("; " + effect);
    return judged.rewritten(error);
  }

  private Map<String, Tensor> evaluated(Map<String, Tensor> inputs) {
    List<Tensor> ordered = new ArrayList<>();
    for (Value input : module.graph().inputs()) {
      ordered.add(RecordedRun.fit(input.name(), inputs.get(input.name()), input.type()));
    }
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (Tensor result : MeshEvaluator.run(module, ordered)) {
      outputs.put(module.graph().outputs().get(outputs.size()).name(), result);
    }
    return outputs;
  }

  /** The largest L2 norm of an output's difference, relative to that of the recorded output. */
  private static double error(Map<String, Tensor> recorded, Map<String, Tensor> found) {
    double largest = 0;
    for (Map.Entry<String, Tensor> output : found.entrySet()) {
      Tensor record = recorded.get(output.getKey()).reshaped(output.getValue().shape());
      double difference = Difference.of(record, output.getValue()).rootMeanSquare();
      if (difference > 0) {
        Tensor zeros = Tensor.filled(record.type(), 0);
        largest = Math.max(largest, difference / Difference.of(record, zeros).rootMeanSquare());
      }
    }
    return largest;
  }
}
