package io.partita.passes.graph.raise.attention;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover attention. */
public final class AttentionRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new SelectInsteadOfProducts(),
          new ExchangeTransposedProduct(),
          new RaiseAttention(),
          new SeparateBatchFromHeads(),
          new AbsorbScale(),
          new RemoveRepeatedKeyValueHeads(),
          new SeparateGroupedQueries(),
          new RecognizeCausalMask());

  /** The rules that recover attention of integers, which need those for floats after them. */
  public static final List<RewriteRule> INTEGER_RULES = List.of(new RaiseIntegerAttention());

  private AttentionRules() {}
}
