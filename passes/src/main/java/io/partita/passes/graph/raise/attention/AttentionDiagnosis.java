package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Reduction;
import java.util.List;
import java.util.Optional;

/** Explains why a softmax does not match the rule for attention. */
public final class AttentionDiagnosis {
  private AttentionDiagnosis() {}

  /**
   * Returns why the softmax isn't that of an attention.
   *
   * @param readers the users of the softmax
   * @param graph an editor of the softmax's graph; nodes may be added, but its outputs don't change
   */
  public static String reason(Node softmax, List<Node> readers, GraphEditor graph) {
    if (!(softmax.op() instanceof Reduction.Softmax(int axis, boolean logarithm))) {
      return softmax.op().mnemonic() + " isn't a softmax of real numbers";
    }
    if (axis != softmax.result().type().rank() - 1) {
      return "the softmax isn't over the last axis";
    }
    ScoreTrace trace = new ScoreTrace(graph);
    Optional<Scores> scores = trace.trace(softmax.operand(0));
    if (scores.isEmpty()) {
      return trace.reason();
    }
    boolean isMultiplied =
        readers.stream().anyMatch(reader -> reader.op() instanceof Contraction.MatMul);
    return isMultiplied
        ? "queries, keys, values and mask don't fit an attention: "
            + scores.get().queries().type()
            + ", "
            + scores.get().keys().type()
        : "its probabilities are modified before their product with the values";
  }
}
