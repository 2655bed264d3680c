package io.partita.passes.graph.raise.norm;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover norms. */
public final class NormRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new RaiseLayerNorm(),
          new RaiseShiftedLayerNorm(),
          new RaiseRmsNorm(),
          new RaiseLengthNorm(),
          new RaiseScaledNorm(),
          new JoinNormFactors(),
          new FuseNormScale(),
          new FuseNormBias(),
          new RemoveNormCasts());

  private NormRules() {}
}
