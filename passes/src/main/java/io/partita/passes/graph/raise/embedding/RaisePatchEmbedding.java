package io.partita.passes.graph.raise.embedding;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code transpose(flatten(convolution(image))) -> patch_embedding(image)}, where the windows of
 * the convolution are adjacent. The canonical form transposes first and then flattens.
 */
final class RaisePatchEmbedding implements RewriteRule {
  private static final Capture<Value> CONVOLUTION = Capture.of("convolution");
  private static final Pattern CHANNELS_LAST =
      op(
          Movement.Transpose.class,
          transpose -> transpose.permutation().equals(List.of(0, 2, 3, 1)),
          any(CONVOLUTION)
              .where(
                  value ->
                      !value.isInput()
                          && value.definition().op() instanceof Contraction.Convolution));
  private static final Pattern PATTERN = op(Movement.Reshape.class, CHANNELS_LAST);

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
    Node product = match.get(CONVOLUTION).definition();
    Contraction.Convolution convolution = (Contraction.Convolution) product.op();
    Shape image = graph.operand(product, 0).type().shape();
    if (!isTiling(convolution, image) || !convolution.result().isFloat()) {
      return Optional.empty();
    }
    Value patches =
        graph.add(new Structured.PatchEmbedding(convolution.bias()), graph.operands(product));
    return Optional.of(graph.add(new Movement.Reshape(node.result().type().shape()), patches));
  }

  private static boolean isTiling(Contraction.Convolution convolution, Shape image) {
    Window window = convolution.window();
    if (convolution.groups() != 1 || window.spatialRank() != 2) {
      return false;
    }
    for (int axis = 0; axis < 2; axis++) {
      boolean isTile =
          window.kernel().get(axis).equals(window.strides().get(axis))
              && window.dilations().get(axis) == 1
              && window.low().get(axis) == 0
              && window.high().get(axis) == 0
              && image.dim(axis + 2).dividedExactlyBy(Dim.of(window.kernel().get(axis))) != null;
      if (!isTile) {
        return false;
      }
    }
    return true;
  }
}
