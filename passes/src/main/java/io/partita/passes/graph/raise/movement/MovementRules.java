package io.partita.passes.graph.raise.movement;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that bring movements into canonical form. */
public final class MovementRules {
  public static final List<RewriteRule> RULES =
      List.of(
          new CanonicalizeAxes(),
          new MoveReshapeAfterUnary(),
          new MoveScaleAfterMovement(),
          new RemoveEmptyParts(),
          new SliceOfConcat(),
          new KeepReducedDimensions(),
          new MoveTransposeAfterScatter(),
          new UpdateInsteadOfScatter());

  /**
   * Rules that move slices, for use after all rules that match slices in their original position.
   */
  public static final List<RewriteRule> SPLITTING_RULES =
      List.of(
          new MoveSliceBeforeTranspose(),
          new MoveSliceBeforeReshape(),
          new MoveSliceBeforeConcat(),
          new SliceInsteadOfGather());

  private MovementRules() {}
}
