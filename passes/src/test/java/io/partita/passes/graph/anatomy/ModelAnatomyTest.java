package io.partita.passes.graph.anatomy;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.unary;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.RaisePass;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

class ModelAnatomyTest {
  private static Value matmul(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Contraction.MatMul(ElementType.F32), left, right);
  }

  private static Value heads(GraphBuilder graph, Value x) {
    Value apart = graph.add(new Movement.Reshape(Shape.of(1, 5, 2, 4)), x);
    return graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), apart);
  }

  /** Returns a block of two heads with functions of its scores and its hidden features. */
  private static Graph block(
      BiFunction<GraphBuilder, Value, Value> scores, BiFunction<GraphBuilder, Value, Value> act) {
    GraphBuilder graph = new GraphBuilder("block");
    Value x = input(graph, "x", 1, 5, 8);
    Value q = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value k = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value v = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value product = matmul(graph, q, graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), k));
    graph.at("softmax");
    Value p = graph.add(new Reduction.Softmax(3, false), scores.apply(graph, product));
    graph.at("weighted");
    Value joined = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), matmul(graph, p, v));
    graph.at("");
    Value flat = graph.add(new Movement.Reshape(Shape.of(1, 5, 8)), joined);
    Value sum = add(graph, matmul(graph, flat, weight(graph, 8, 8)), x);
    Value hidden = act.apply(graph, matmul(graph, sum, weight(graph, 8, 16)));
    graph.output("y", add(graph, matmul(graph, hidden, weight(graph, 16, 8)), sum));
    return graph.finish();
  }

  private static ModelAnatomy anatomy(Graph graph) {
    return ModelAnatomy.of(graph, new RaisePass().run(new Module(graph)).graph());
  }

  @Test
  void blocksWithoutNorms() {
    ModelAnatomy anatomy =
        anatomy(block((graph, s) -> s, (graph, h) -> unary(graph, UnaryFunction.GELU, h)));
    assertThat(anatomy.lines()).containsExactly("1 of 1 blocks raised");
    Block block = anatomy.blocks().getFirst();
    assertThat(block.residual()).isTrue();
    assertThat(block.placement()).isEqualTo(Block.NormPlacement.NONE);
    assertThat(block.ffns()).hasSize(1);
    assertThat(block.ffns().getFirst().inner().value()).isEqualTo(16);
    assertThat(block.attention().headSize().value()).isEqualTo(4);
  }

  @Test
  void unraisedAttentionHasAReason() {
    ModelAnatomy anatomy =
        anatomy(
            block(
                (graph, s) -> mul(graph, s, input(graph, "scale", 5)),
                (graph, h) -> unary(graph, UnaryFunction.GELU, h)));
    assertThat(anatomy.lines())
        .containsExactly(
            "0 of 1 blocks raised",
            "not raised: \"softmax\": the scale of the scores depends on the key");
  }

  /** The sinks of GPT-OSS: a score of each head that takes a part of the probability. */
  @Test
  void attentionWithSinksIsACandidate() {
    GraphBuilder graph = new GraphBuilder("sinks");
    Value x = input(graph, "x", 1, 5, 8);
    Value q = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value k = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value v = heads(graph, matmul(graph, x, weight(graph, 8, 8)));
    Value scores = matmul(graph, q, graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), k));
    Value sinks =
        graph.add(new Movement.Broadcast(Shape.of(1, 2, 5, 1)), weight(graph, 1, 2, 1, 1));
    Value more = graph.add(new Movement.Concat(3), scores, sinks);
    graph.at("softmax");
    Value all = graph.add(new Reduction.Softmax(3, false), more);
    Value p =
        graph.add(
            new Movement.Slice(dims(0, 0, 0, 0), dims(1, 2, 5, 5), List.of(1L, 1L, 1L, 1L)), all);
    graph.output("y", matmul(graph, p, v));
    assertThat(anatomy(graph.finish()).lines())
        .containsExactly(
            "0 of 1 blocks raised",
            "not raised: \"softmax\": concat between the product and the softmax");
  }

  private static List<Dim> dims(long... extents) {
    return Shape.of(extents).dims();
  }

  @Test
  void whatMixesFeaturesIsNamed() {
    ModelAnatomy anatomy =
        anatomy(
            block((graph, s) -> s, (graph, h) -> graph.add(new Reduction.Softmax(2, false), h)));
    assertThat(anatomy.lines())
        .containsExactly(
            "0 of 1 blocks raised",
            "block 0 \"weighted\": no feed-forward network: between the linears are softmax");
  }

  @Test
  void classifierSoftmaxIsNotACandidate() {
    GraphBuilder graph = new GraphBuilder("classifier");
    Value logits = matmul(graph, input(graph, "x", 1, 5, 8), weight(graph, 8, 3));
    graph.output("y", graph.add(new Reduction.Softmax(2, false), logits));
    assertThat(anatomy(graph.finish()).lines()).containsExactly("0 of 0 blocks raised");
  }
}
