package io.partita.passes.graph.anatomy;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.unary;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.raise.RaisePass;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Tests that blocks are found in layers of any structure. */
class BlockFinderTest {
  private static Value matmul(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Contraction.MatMul(ElementType.F32), left, right);
  }

  private static Value linear(GraphBuilder graph, Value x, long outputs) {
    return matmul(graph, x, weight(graph, x.type().shape().fromEnd(0).value(), outputs));
  }

  private static Value norm(GraphBuilder graph, Value x) {
    int axis = x.type().rank() - 1;
    return graph.add(
        new Structured.Norm(Structured.NormKind.RMS, axis, 1e-5, true, false),
        x,
        weight(graph, x.type().dim(axis).value()));
  }

  /** Two heads of 4 features. */
  private static Value heads(GraphBuilder graph, Value x) {
    long rows = x.type().dim(1).value();
    Value apart = graph.add(new Movement.Reshape(Shape.of(2, rows, 2, 4)), x);
    return graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), apart);
  }

  private static Value weigh(GraphBuilder graph, Value q, Value k, Value v) {
    Value transposed = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), k);
    Value p = graph.add(new Reduction.Softmax(3, false), matmul(graph, q, transposed));
    Value joined = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), matmul(graph, p, v));
    return graph.add(new Movement.Reshape(Shape.of(2, q.type().dim(2).value(), 8)), joined);
  }

  private static Value attention(GraphBuilder graph, Value x, Value memory) {
    Value q = heads(graph, linear(graph, x, 8));
    Value k = heads(graph, linear(graph, memory, 8));
    Value v = heads(graph, linear(graph, memory, 8));
    return linear(graph, weigh(graph, q, k, v), 8);
  }

  private static Value network(GraphBuilder graph, Value x) {
    return linear(graph, unary(graph, UnaryFunction.GELU, linear(graph, x, 16)), 8);
  }

  private static Value layer(GraphBuilder graph, Value x) {
    Value sum = add(graph, x, attention(graph, norm(graph, x), norm(graph, x)));
    return add(graph, sum, network(graph, norm(graph, sum)));
  }

  private static ModelAnatomy anatomy(Function<GraphBuilder, Value> body) {
    GraphBuilder graph = new GraphBuilder("test");
    graph.output("y", body.apply(graph));
    Module module = new Module(graph.finish());
    return ModelAnatomy.of(module.graph(), new RaisePass().run(module).graph());
  }

  private static ModelAnatomy raised(int blocks, Function<GraphBuilder, Value> body) {
    ModelAnatomy anatomy = anatomy(body);
    assertThat(anatomy.lines()).containsExactly(blocks + " of " + blocks + " blocks raised");
    assertThat(anatomy.blocks()).hasSize(blocks).allMatch(Block::residual);
    return anatomy;
  }

  private static List<Integer> networks(ModelAnatomy anatomy) {
    return anatomy.blocks().stream().map(block -> block.ffns().size()).toList();
  }

  @Test
  void headsAreNotMultipliedByTheBatch() {
    ModelAnatomy anatomy = raised(1, graph -> layer(graph, input(graph, "x", 2, 5, 8)));
    assertThat(anatomy.blocks().getFirst().attention().heads().value()).isEqualTo(2);
    assertThat(anatomy.blocks().getFirst().placement()).isEqualTo(Block.NormPlacement.PRE);
  }

  @Test
  void networksParallelToTheAttention() {
    ModelAnatomy anatomy =
        raised(
            2,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              for (int layer = 0; layer < 2; layer++) {
                Value normed = norm(graph, x);
                Value sum = add(graph, attention(graph, normed, normed), network(graph, normed));
                x = add(graph, x, sum);
              }
              return x;
            });
    assertThat(networks(anatomy)).containsExactly(1, 1);
  }

  @Test
  void twoTowersHaveTheirNetworks() {
    ModelAnatomy anatomy =
        raised(
            4,
            graph -> {
              Value left = input(graph, "left", 2, 5, 8);
              Value right = input(graph, "right", 2, 5, 8);
              Value image = layer(graph, layer(graph, left));
              return add(graph, image, layer(graph, layer(graph, right)));
            });
    assertThat(networks(anatomy)).containsExactly(1, 1, 1, 1);
  }

  @Test
  void decoderLayersHaveCrossAttention() {
    ModelAnatomy anatomy =
        raised(
            2,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value memory = input(graph, "memory", 2, 3, 8);
              Value own = add(graph, x, attention(graph, norm(graph, x), norm(graph, x)));
              Value both = add(graph, own, attention(graph, norm(graph, own), memory));
              return add(graph, both, network(graph, norm(graph, both)));
            });
    assertThat(anatomy.blocks().getFirst().attention().cross()).isFalse();
    assertThat(anatomy.blocks().getLast().attention().cross()).isTrue();
    assertThat(networks(anatomy)).containsExactly(0, 1);
  }

  @Test
  void keysAndValuesOfAnEncoderMayBeInputs() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value k = input(graph, "keys", 2, 2, 3, 4);
              Value v = input(graph, "values", 2, 2, 3, 4);
              Value q = heads(graph, linear(graph, norm(graph, x), 8));
              Value sum = add(graph, x, linear(graph, weigh(graph, q, k, v), 8));
              return add(graph, sum, network(graph, norm(graph, sum)));
            });
    assertThat(anatomy.blocks().getFirst().attention().cross()).isTrue();
    assertThat(anatomy.blocks().getFirst().attention().cache())
        .hasValue(new Block.Cache("keys", "values", "", ""));
  }

  /** A cache of 7 tokens, in which the model writes that of each run at an index. */
  @Test
  void keysAndValuesMayBeScatteredIntoACache() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 1, 8);
              Value normed = norm(graph, x);
              Value q = heads(graph, linear(graph, normed, 8));
              Value position = graph.input("position", TensorType.of(ElementType.I64, 2, 2, 1, 3));
              Value places = graph.input("places", TensorType.of(ElementType.I64, 2, 2, 1, 4));
              Value k =
                  graph.add(
                      new Movement.ScatterNd(Combine.REPLACE),
                      input(graph, "keys", 2, 2, 7, 4),
                      position,
                      heads(graph, linear(graph, normed, 8)));
              Value v =
                  graph.add(
                      new Movement.ScatterElements(2, Combine.REPLACE),
                      input(graph, "values", 2, 2, 7, 4),
                      places,
                      heads(graph, linear(graph, normed, 8)));
              graph.output("new_keys", k);
              graph.output("new_values", v);
              Value sum = add(graph, x, linear(graph, weigh(graph, q, k, v), 8));
              return add(graph, sum, network(graph, norm(graph, sum)));
            });
    Block.AttentionPart attention = anatomy.blocks().getFirst().attention();
    assertThat(attention.cross()).isFalse();
    assertThat(attention.cache())
        .hasValue(new Block.Cache("keys", "values", "new_keys", "new_values"));
  }

  /**
   * 4 heads of 2 features, in groups of 2, whose scores are masked and normalized with heads apart.
   */
  @Test
  void queriesMayBeGroupedByEinsum() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value q = split(graph, linear(graph, x, 8), Shape.of(2, 5, 2, 2, 2), 0, 2, 3, 1, 4);
              Value k = split(graph, linear(graph, x, 4), Shape.of(2, 5, 2, 2), 0, 2, 1, 3);
              Value v = split(graph, linear(graph, x, 4), Shape.of(2, 5, 2, 2), 0, 2, 1, 3);
              Value scores = graph.add(new Contraction.Einsum("bkgid,bkjd->bkgij"), q, k);
              Value heads = graph.add(new Movement.Reshape(Shape.of(2, 4, 5, 5)), scores);
              Value p = graph.add(new Reduction.Softmax(3, false), heads);
              Value groups = graph.add(new Movement.Reshape(Shape.of(2, 2, 2, 5, 5)), p);
              Value y = graph.add(new Contraction.Einsum("bkgij,bkjd->bkgid"), groups, v);
              Value tokens = graph.add(new Movement.Transpose(List.of(0, 3, 1, 2, 4)), y);
              Value joined = graph.add(new Movement.Reshape(Shape.of(2, 5, 8)), tokens);
              Value sum = add(graph, x, linear(graph, joined, 8));
              return add(graph, sum, network(graph, norm(graph, sum)));
            });
    Block.AttentionPart attention = anatomy.blocks().getFirst().attention();
    assertThat(attention.heads().value()).isEqualTo(4);
    assertThat(attention.kvHeads().value()).isEqualTo(2);
  }

  private static Value split(GraphBuilder graph, Value x, Shape shape, Integer... permutation) {
    Value apart = graph.add(new Movement.Reshape(shape), x);
    return graph.add(new Movement.Transpose(List.of(permutation)), apart);
  }

  /**
   * A cache of 7 tokens, of which one is replaced by where, or by products with a one-hot vector.
   */
  @Test
  void keysAndValuesMayBeWrittenElementByElement() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 1, 8);
              Value normed = norm(graph, x);
              Value q = heads(graph, linear(graph, normed, 8));
              Value at = graph.input("position", TensorType.of(ElementType.I64, 1));
              Value places =
                  graph.constant(
                      Tensor.ofLongs(
                          TensorType.of(ElementType.I64, 7, 1), new long[] {0, 1, 2, 3, 4, 5, 6}));
              Value chosen = graph.add(new Elementwise.Binary(BinaryFunction.EQUAL), places, at);
              Value k =
                  graph.add(
                      new Elementwise.Select(),
                      chosen,
                      heads(graph, linear(graph, normed, 8)),
                      input(graph, "keys", 2, 2, 7, 4));
              Value ones = graph.add(new Elementwise.Cast(ElementType.F32), chosen);
              Value one = graph.constant(Tensor.scalar(ElementType.F32, 1));
              Value others = graph.add(new Elementwise.Binary(BinaryFunction.SUB), one, ones);
              Elementwise.Binary product = new Elementwise.Binary(BinaryFunction.MUL);
              Value v =
                  add(
                      graph,
                      graph.add(product, input(graph, "values", 2, 2, 7, 4), others),
                      graph.add(product, ones, heads(graph, linear(graph, normed, 8))));
              graph.output("new_keys", k);
              graph.output("new_values", v);
              Value sum = add(graph, x, linear(graph, weigh(graph, q, k, v), 8));
              return add(graph, sum, network(graph, norm(graph, sum)));
            });
    assertThat(anatomy.blocks().getFirst().gaps()).isEmpty();
    Block.AttentionPart attention = anatomy.blocks().getFirst().attention();
    assertThat(attention.cross()).isFalse();
    assertThat(attention.cache())
        .hasValue(new Block.Cache("keys", "values", "new_keys", "new_values"));
  }

  @Test
  void queriesMayBeLearned() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value latents = weight(graph, 2, 3, 8);
              Value sum =
                  add(graph, latents, attention(graph, latents, input(graph, "x", 2, 5, 8)));
              return add(graph, sum, network(graph, norm(graph, sum)));
            });
    assertThat(anatomy.blocks().getFirst().attention().cross()).isTrue();
  }

  @Test
  void attentionWithoutNetworkIsIncomplete() {
    ModelAnatomy anatomy =
        anatomy(
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value sum = add(graph, x, attention(graph, x, x));
              return layer(graph, sum);
            });
    assertThat(anatomy.completeBlocks()).isEqualTo(1);
  }

  @Test
  void queriesMayHaveANormOverAllHeads() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value q = heads(graph, norm(graph, linear(graph, x, 8)));
              Value k = heads(graph, norm(graph, linear(graph, x, 8)));
              Value v = heads(graph, linear(graph, x, 8));
              Value output = norm(graph, linear(graph, weigh(graph, q, k, v), 8));
              Value sum = add(graph, x, output);
              return add(graph, sum, norm(graph, network(graph, sum)));
            });
    assertThat(anatomy.blocks().getFirst().placement()).isEqualTo(Block.NormPlacement.OUTPUT);
  }

  /** The hidden features of each pixel, and of its neighbours, by a convolution of each channel. */
  private static Value mixed(GraphBuilder graph, Value x, long outputs) {
    Value hidden = graph.add(new Movement.Transpose(List.of(0, 2, 1)), linear(graph, x, 16));
    Value near =
        graph.add(
            new Contraction.Convolution(
                new Window(List.of(3L), List.of(1L), List.of(1L), List.of(1L), List.of(1L)),
                16,
                false,
                ElementType.F32),
            hidden,
            weight(graph, 16, 1, 3));
    Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1)), near);
    return linear(graph, unary(graph, UnaryFunction.GELU, back), outputs);
  }

  @Test
  void networksMayHaveAConvolutionBetweenLinears() {
    ModelAnatomy anatomy =
        raised(
            1,
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value sum = add(graph, x, attention(graph, norm(graph, x), norm(graph, x)));
              return add(graph, sum, mixed(graph, norm(graph, sum), 8));
            });
    assertThat(anatomy.blocks().getFirst().ffns().getFirst().inner().value()).isEqualTo(16);
  }

  /** Squared rectifiers with a gate, as in BitNet; Mish; and a product of two linears. */
  @Test
  void networksMayHaveOtherFunctionsOfTheirFeatures() {
    for (int kind = 0; kind < 3; kind++) {
      int function = kind;
      ModelAnatomy anatomy =
          raised(
              1,
              graph -> {
                Value x = input(graph, "x", 2, 5, 8);
                Value sum = add(graph, x, attention(graph, norm(graph, x), norm(graph, x)));
                Value normed = norm(graph, sum);
                Value up = linear(graph, normed, 16);
                // Weights of one shape are equal, and so would be both linears of one value.
                Value other = linear(graph, unary(graph, UnaryFunction.NEG, normed), 16);
                Value relu = unary(graph, UnaryFunction.RELU, up);
                Value softplus = unary(graph, UnaryFunction.SOFTPLUS, up);
                Value hidden =
                    switch (function) {
                      case 0 -> mul(graph, mul(graph, relu, relu), other);
                      case 1 -> mul(graph, up, unary(graph, UnaryFunction.TANH, softplus));
                      default -> mul(graph, up, other);
                    };
                return add(graph, sum, linear(graph, hidden, 8));
              });
      Block.FfnPart network = anatomy.blocks().getFirst().ffns().getFirst();
      assertThat(network.inner().value()).isEqualTo(16);
      assertThat(network.gated()).isEqualTo(function != 1);
      assertThat(network.activation().isPresent()).isEqualTo(function == 0);
    }
  }

  @Test
  void linearsWithNothingBetweenAreNotNetworks() {
    for (boolean isPooler : new boolean[] {false, true}) {
      ModelAnatomy anatomy =
          anatomy(
              graph -> {
                Value x = input(graph, "x", 2, 5, 8);
                Value sum = add(graph, x, attention(graph, x, x));
                Value inner = linear(graph, norm(graph, sum), 16);
                Value hidden = isPooler ? unary(graph, UnaryFunction.TANH, inner) : inner;
                return linear(graph, hidden, 8);
              });
      assertThat(anatomy.completeBlocks()).isZero();
    }
  }

  @Test
  void headsAreNotNetworks() {
    ModelAnatomy anatomy =
        anatomy(
            graph -> {
              Value x = input(graph, "x", 2, 5, 8);
              Value sum = add(graph, x, attention(graph, x, x));
              return mixed(graph, norm(graph, sum), 3);
            });
    assertThat(anatomy.completeBlocks()).isZero();
  }

  @Test
  void linearsMayBePointwiseConvolutions() {
    Window pixel = new Window(List.of(1L), List.of(1L), List.of(1L), List.of(0L), List.of(0L));
    raised(
        1,
        graph -> {
          Value x = input(graph, "x", 2, 8, 5);
          Function<Value, Value> grouped =
              from ->
                  graph.add(
                      new Contraction.Convolution(pixel, 2, false, ElementType.F32),
                      from,
                      weight(graph, 8, 4, 1));
          Function<Value, Value> heads =
              from -> graph.add(new Movement.Reshape(Shape.of(2, 2, 4, 5)), grouped.apply(from));
          Value q = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), heads.apply(x));
          Value v = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), heads.apply(x));
          Value p = graph.add(new Reduction.Softmax(3, false), matmul(graph, q, heads.apply(x)));
          Value back = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), matmul(graph, p, v));
          Value joined = graph.add(new Movement.Reshape(Shape.of(2, 8, 5)), back);
          Value sum = add(graph, x, grouped.apply(joined));
          Value hidden = unary(graph, UnaryFunction.GELU, grouped.apply(sum));
          return add(graph, sum, grouped.apply(hidden));
        });
  }

  @Test
  void branchesMayJoinTheHeads() {
    raised(
        1,
        graph -> {
          Value x = input(graph, "x", 2, 5, 8);
          Value q = heads(graph, linear(graph, x, 8));
          Value k = heads(graph, linear(graph, x, 8));
          Value v = heads(graph, linear(graph, x, 8));
          Value gated = mul(graph, linear(graph, x, 8), linear(graph, x, 8));
          Value both = graph.add(new Movement.Concat(2), weigh(graph, q, k, v), gated);
          Value sum = add(graph, x, linear(graph, both, 8));
          return add(graph, sum, network(graph, norm(graph, sum)));
        });
  }
}
