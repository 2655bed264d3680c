package io.partita.passes.graph.raise.activation;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover activation functions. */
public final class ActivationRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new RaiseGelu(),
          new RaiseSigmoid(),
          new RaiseSilu(),
          new RaiseQuickGelu(),
          new RaiseHardSwish(),
          new RaiseSoftmax(),
          new ExponentiateLogSoftmax());

  private ActivationRules() {}
}
