package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured.Linear;
import io.partita.ir.op.Structured.PatchEmbedding;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code patch_embedding(image) -> linear(patches)}: patches are copied to rows, in the order of
 * the weight's elements, so that the order of summation is that of the convolution. Every such
 * embedding matches.
 */
final class ProjectPatches implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return PatchEmbedding.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape image = graph.operand(node, 0).type().shape();
    Value weight = graph.operand(node, 1);
    long batch = image.extent(0);
    long channels = image.extent(1);
    long height = weight.type().shape().extent(2);
    long width = weight.type().shape().extent(3);
    long rows = image.extent(2) / height;
    long columns = image.extent(3) / width;
    long depth = channels * height * width;
    Shape cut = Shape.of(batch, channels, rows, height, columns, width);
    Value blocks = graph.add(new Movement.Reshape(cut), graph.operand(node, 0));
    Value patches = graph.add(new Movement.Transpose(List.of(0, 2, 4, 1, 3, 5)), blocks);
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(
        0, graph.add(new Movement.Reshape(Shape.of(batch, rows * columns, depth)), patches));
    Shape matrix = Shape.of(weight.type().shape().extent(0), depth);
    operands.set(1, graph.add(new Movement.Reshape(matrix), weight));
    return Optional.of(graph.add(new Linear(true, operands.size() == 3), operands));
  }
}
