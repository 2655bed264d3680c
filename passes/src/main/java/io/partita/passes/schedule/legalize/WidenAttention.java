package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code attention(q, k, v) of integers -> attention(f32(q), f32(k), f32(v)) valueScale}, where the
 * scores and weights of a query take more than half of the working memory, or, if tiles are stored
 * in pages, these with the keys and values of a head. Its probabilities aren't rounded to 8 bits.
 *
 * @param workingBytes the bytes of the smallest working memory
 * @param isPaged whether tiles are stored in pages, whose loops don't stream keys and values
 */
record WidenAttention(long workingBytes, boolean isPaged) implements RewriteRule {
  /** The bytes of a score and its weight. */
  private static final long SCORE = Integer.BYTES + 1;

  /** The number of queries, keys and values among the operands. */
  private static final int INTEGERS = 3;

  @Override
  public Class<? extends Op> root() {
    return Structured.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Structured.class, op -> op instanceof Attention attention && attention.isInteger());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape keys = node.operand(1).type().shape();
    long features = keys.extent(3) + node.operand(2).type().shape().extent(3);
    // Half of the memory, so that the next tile can be loaded in the meantime.
    if (keys.extent(2) * (SCORE + (isPaged ? features : 0)) <= workingBytes / 2) {
      return Optional.empty();
    }
    Attention integer = (Attention) node.op();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    for (int i = 0; i < INTEGERS; i++) {
      operands.set(i, graph.add(new Elementwise.Cast(ElementType.F32), operands.get(i)));
    }
    Attention real =
        new Attention(
            integer.scale(),
            0,
            integer.causal(),
            integer.offset(),
            integer.window(),
            integer.mask(),
            integer.keyLength());
    return Optional.of(
        graph.add(
            new Elementwise.Binary(BinaryFunction.MUL),
            graph.add(real, operands),
            graph.constant(Tensor.scalar(ElementType.F32, integer.valueScale()))));
  }
}
