package io.partita.passes.graph.raise.rotary;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover rotary position embeddings. */
public final class RotaryRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new RaiseRotaryEmbedding(),
          new RaiseSplitRotation(),
          new RaiseInterleavedRotation(),
          new ExtendPartialRotation());

  /** Rules for use after equal slices of tables have been merged. */
  public static final List<RewriteRule> TABLE_RULES = List.of(new HalveRotaryTable());

  private RotaryRules() {}
}
