package io.partita.passes.graph.raise.linear;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover linears and feed-forward networks. */
public final class LinearRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new ExpandEinsum(),
          new RaiseLinear(),
          new FuseWeightTranspose(),
          new MoveReshapeAfterLinear(),
          new MoveBiasBeforeReshape(),
          new MoveBiasBeforeResidual(),
          new FuseLinearBias());

  /** Rules for use after all rules that match slices of a fused linear. */
  public static final List<RewriteRule> SPLITTING_RULES =
      List.of(new SplitFusedLinear(), new RaiseGatedFfn(), new RaiseFfn());

  private LinearRules() {}
}
