package io.partita.passes.rewrite;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import java.util.Optional;

/**
 * One way to replace a node, named by a verb phrase: the pattern that must be found at it, and the
 * value that stands for its first result from then on.
 *
 * <p>A rule has no state. {@link #apply} adds nodes only when it gives a value.
 */
public interface RewriteRule {
  /** The operation at which the rule is tried. */
  Class<? extends Op> root();

  /** What has to be found; captures are read by {@link #apply}. */
  Pattern pattern();

  /**
   * The replacement of the matched node's first result, of the same type; none when a closer look
   * shows that the rule doesn't hold.
   */
  Optional<Value> apply(Node node, Match match, GraphEditor graph);

  default String name() {
    return getClass().getSimpleName();
  }
}
