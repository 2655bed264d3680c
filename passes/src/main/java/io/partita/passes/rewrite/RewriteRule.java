package io.partita.passes.rewrite;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import java.util.Optional;

/**
 * A replacement of a node, named by a verb phrase: a pattern that the node must match, and the
 * value that replaces its first result.
 *
 * <p>Rules have no state. {@link #apply} adds nodes only if it returns a value.
 */
public interface RewriteRule {
  /** The type of operations at which the rule is tried. */
  Class<? extends Op> root();

  /** The pattern, whose captures {@link #apply} reads. */
  Pattern pattern();

  /**
   * Returns the replacement of the matched node's first result, of the same type; empty if a
   * further condition of the rule doesn't hold.
   */
  Optional<Value> apply(Node node, Match match, GraphEditor graph);

  default String name() {
    return getClass().getSimpleName();
  }
}
