package io.partita.passes.graph.raise.integer;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/**
 * The rules that compute with integers what quantized models state in floats. They are for use
 * after all rules that match linears of floats.
 */
public final class IntegerRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new MultiplyIntegers(),
          new MultiplyNibbles(),
          new RequantizeSums(),
          new TabulateFunctions(),
          new TabulateIntegers(),
          new TabulateFloats());

  private IntegerRules() {}

  /** Whether one of the rules replaces the node, if it is a linear. */
  public static boolean matches(Node node, GraphEditor graph) {
    return MultiplyIntegers.matches(node, graph) || MultiplyNibbles.matches(node, graph);
  }
}
