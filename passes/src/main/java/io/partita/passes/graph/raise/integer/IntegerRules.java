package io.partita.passes.graph.raise.integer;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/**
 * The rules that compute with integers what quantized models state in floats. They are for use
 * after all rules that match linears of floats.
 */
public final class IntegerRules {
  public static final List<RewriteRule> RULES =
      List.of(new MultiplyIntegers(), new RequantizeSums());

  private IntegerRules() {}
}
