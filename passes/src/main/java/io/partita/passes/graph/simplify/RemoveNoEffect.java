package io.partita.passes.graph.simplify;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * Removes operations that return their operand: {@code reshape} to the same shape, {@code x*1}, and
 * so on.
 */
final class RemoveNoEffect implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN = Pattern.operand(0, Pattern.any(X)).ofTypeOf(X);

  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean isOperand =
        switch (node.op()) {
          case Movement.Reshape reshape -> true;
          case Movement.Broadcast broadcast -> true;
          case Elementwise.Cast cast -> true;
          case Movement.Transpose transpose -> isIdentity(transpose);
          case Movement.Slice slice -> slice.steps().stream().allMatch(step -> step == 1);
          case Movement.Concat concat -> node.operands().size() == 1;
          case Movement.Pad pad ->
              pad.low().stream().allMatch(n -> n == 0) && pad.high().stream().allMatch(n -> n == 0);
          case Elementwise.Binary binary ->
              isNeutral(binary.function(), graph.operand(node, 1), graph);
          case Op other -> false;
        };
    return isOperand ? Optional.of(match.get(X)) : Optional.empty();
  }

  private static boolean isIdentity(Movement.Transpose transpose) {
    for (int axis = 0; axis < transpose.permutation().size(); axis++) {
      if (transpose.permutation().get(axis) != axis) {
        return false;
      }
    }
    return true;
  }

  /** {@code x*1 -> x}, {@code x/1 -> x}, {@code x-0 -> x}, {@code x^1 -> x}. */
  private static boolean isNeutral(BinaryFunction function, Value right, GraphEditor graph) {
    double neutral =
        switch (function) {
          case MUL, DIV, POW -> 1;
          case SUB -> 0;
          case ADD,
              MOD,
              REMAINDER,
              MIN,
              MAX,
              AND,
              OR,
              XOR,
              BIT_AND,
              BIT_OR,
              BIT_XOR,
              SHIFT_LEFT,
              SHIFT_RIGHT,
              EQUAL,
              LESS,
              LESS_OR_EQUAL,
              GREATER,
              GREATER_OR_EQUAL ->
              Double.NaN;
        };
    return graph.constant(right).filter(data -> data.isFilledWith(neutral)).isPresent();
  }
}
