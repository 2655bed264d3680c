package io.partita.passes.graph.raise.embedding;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code gather(table, ids) -> embedding(table, ids)}, where the table is a weight. */
final class RaiseEmbedding implements RewriteRule {
  private static final Capture<Value> TABLE = Capture.of("table");
  private static final Capture<Value> IDS = Capture.of("ids");
  private static final Pattern PATTERN =
      op(
          Movement.Gather.class,
          gather -> gather.axis() == 0,
          any(TABLE).where(table -> table.type().rank() == 2 && table.type().element().isFloat()),
          any(IDS).where(ids -> ids.type().rank() > 0));

  @Override
  public Class<? extends Op> root() {
    return Movement.Gather.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Parameters.isParameter(match.get(TABLE), graph)
        ? Optional.of(graph.add(new Structured.Embedding(), match.get(TABLE), match.get(IDS)))
        : Optional.empty();
  }
}
