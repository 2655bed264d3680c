package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.Pattern.any;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerAttention;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.passes.graph.raise.DequantizedBytes;
import io.partita.passes.graph.raise.attention.AbsorbScale.Scaled;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code matmul(dequantize(quantize(softmax(scores of dequantized q and k))), dequantized v) ->
 * attention(q, k, v)} of integers. Probabilities must have 8 bits that reach to 1, and queries and
 * values no zero point; that of keys adds the same number to all scores of a query. Keys may be
 * scaled after they were dequantized, as those of a cache are. The result has smaller errors than
 * the model, as weights have 8 bits of the largest of a row, not of 1.
 */
final class RaiseIntegerAttention implements RewriteRule {
  private static final Capture<Value> PROBABILITIES = Capture.of("probabilities");

  /** What the largest code of a probability must stand for at least. */
  private static final double ONE = 0.99;

  private static final Pattern PATTERN =
      Pattern.op(
          Contraction.MatMul.class,
          Pattern.op(
                  Dequantize.class,
                  Pattern.op(Quantize.class, RaiseAttention.PROBABILITIES, any(), any()),
                  any(),
                  any())
              .as(PROBABILITIES),
          any());

  @Override
  public Class<? extends Op> root() {
    return Contraction.MatMul.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Scores scores = RaiseAttention.scores(match, graph).orElse(null);
    if (!reachOne(match.get(PROBABILITIES), graph)
        || scores == null
        || scores.softCap() != 0
        || scores.scale() <= 0
        || !scores.rows().isEmpty()
        || !fits(scores)) {
      return Optional.empty();
    }
    DequantizedBytes queries = bytes(scores.queries(), graph).orElse(null);
    // Keys may be scaled after they are read from a cache of integers.
    Scaled scaled =
        AbsorbScale.scaled(scores.keys(), graph).orElseGet(() -> new Scaled(scores.keys(), 1));
    DequantizedBytes keys = bytes(scaled.value(), graph).orElse(null);
    DequantizedBytes values = bytes(graph.operand(node, 1), graph).orElse(null);
    if (queries == null
        || keys == null
        || values == null
        || queries.zero() != 0
        || scaled.factor() <= 0
        || values.zero() != 0) {
      return Optional.empty();
    }
    Scores integers =
        new Scores(
            queries.integers(),
            keys.integers(),
            scores.scale() * scaled.factor() * queries.scale() * keys.scale(),
            0,
            scores.masks(),
            List.of(),
            scores.leading());
    return AttentionOperands.of(integers, values.integers(), values.scale(), graph)
        .map(operands -> operands.attention(node, graph));
  }

  private static Optional<DequantizedBytes> bytes(Value value, GraphEditor graph) {
    return DequantizedBytes.moved(value, graph)
        .filter(bytes -> bytes.integers().type().element() == ElementType.I8);
  }

  /** Whether quantized probabilities have 8 bits and aren't limited below 1. */
  private static boolean reachOne(Value probabilities, GraphEditor graph) {
    return DequantizedBytes.of(probabilities, graph)
        .filter(
            code ->
                (code.integers().type().element().maximum() - code.zero()) * code.scale() >= ONE)
        .isPresent();
  }

  /** Whether sums are exact. */
  private static boolean fits(Scores scores) {
    Dim features = scores.queries().type().shape().fromEnd(0);
    Dim keys = scores.keys().type().shape().fromEnd(0);
    return features.isStatic()
        && features.value() <= IntegerAttention.MOST_FEATURES
        && (!keys.isStatic() || keys.value() <= IntegerAttention.MOST_KEYS);
  }
}
