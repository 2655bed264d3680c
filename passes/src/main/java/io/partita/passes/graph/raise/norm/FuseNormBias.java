package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code norm(x, scale) + bias -> norm(x, scale, bias)}, where the bias is a weight. */
final class FuseNormBias implements RewriteRule {
  private static final Capture<Value> NORM = Capture.of("norm");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Pattern PATTERN =
      add(
              any(NORM)
                  .where(
                      value ->
                          !value.isInput()
                              && value.definition().op() instanceof Structured.Norm norm
                              && !norm.bias()),
              any(BIAS))
          .ofTypeOf(NORM);

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Binary.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node inner = match.get(NORM).definition();
    Structured.Norm norm = (Structured.Norm) inner.op();
    List<Value> operands = new ArrayList<>(graph.operands(inner));
    return NormOperand.of(match.get(BIAS), norm, operands.getFirst(), graph)
        .map(
            bias -> {
              operands.add(bias);
              return graph.add(
                  new Structured.Norm(norm.kind(), norm.axis(), norm.epsilon(), norm.scale(), true),
                  operands);
            });
  }
}
