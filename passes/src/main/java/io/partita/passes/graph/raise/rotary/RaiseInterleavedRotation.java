package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.sub;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code stack(x₁ c - x₂ s, x₂ c + x₁ s) -> rotary_embedding(x)}, where {@code x₁} are the even and
 * {@code x₂} the odd features; the stack interleaves them.
 */
final class RaiseInterleavedRotation implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> EVEN = Capture.of("even");
  private static final Capture<Value> ODD = Capture.of("odd");
  private static final Capture<Value> COSINES = Capture.of("cosines");
  private static final Capture<Value> SINES = Capture.of("sines");
  private static final Capture<Value> STACK = Capture.of("stack");
  private static final Pattern PATTERN =
      op(
          Movement.Reshape.class,
          op(
                  Movement.Concat.class,
                  op(
                      Movement.Reshape.class,
                      sub(
                          mul(op(Movement.Slice.class, any(X)).as(EVEN), any(COSINES)),
                          mul(op(Movement.Slice.class, any(X)).as(ODD), any(SINES)))),
                  op(
                      Movement.Reshape.class,
                      add(mul(any(ODD), any(COSINES)), mul(any(EVEN), any(SINES)))))
              .as(STACK));

  @Override
  public Class<? extends Op> root() {
    return Movement.Reshape.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    Shape even = match.get(EVEN).type().shape();
    Value stack = match.get(STACK);
    int last = even.rank();
    // The last axis holds the two features of a pair.
    boolean isStack =
        ((Movement.Concat) stack.definition().op()).axis() == last
            && stack.type().rank() == last + 1
            && stack.type().shape().range(0, last).equals(even);
    return isStack
            && x.type().equals(node.result().type())
            && RotatedPair.areNeighbours(x, match.get(EVEN), match.get(ODD))
        ? RotatedPair.rotate(x, match.get(COSINES), match.get(SINES), true, graph)
        : Optional.empty();
  }
}
