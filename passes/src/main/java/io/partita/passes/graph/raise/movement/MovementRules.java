package io.partita.passes.graph.raise.movement;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that bring movements into a form that others rely on. */
public final class MovementRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new CanonicalizeAxes(),
          new MoveReshapeAfterUnary(),
          new MoveScaleAfterMovement(),
          new RemoveEmptyParts(),
          new TakePartOfConcat());

  /** For when no rule looks for slices of the value that they move behind any more. */
  public static final List<RewriteRule> SPLITTING_RULES =
      List.of(
          new MoveSliceBeforeTranspose(), new MoveSliceBeforeReshape(), new SliceInsteadOfGather());

  private MovementRules() {}
}
