package io.partita.passes.schedule.legalize;

import static io.partita.ir.function.BinaryFunction.ADD;
import static io.partita.ir.type.ElementType.F16;
import static io.partita.ir.type.ElementType.F32;
import static io.partita.ir.type.ElementType.I32;
import static io.partita.ir.type.ElementType.I64;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U4;
import static io.partita.passes.schedule.legalize.Legalized.constant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LegalizationTest {
  private static Value input(GraphBuilder graph, String name, long... extents) {
    return graph.input(name, TensorType.of(F32, extents));
  }

  @Test
  void feedForwardNetworksBecomeLinears() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.Ffn(UnaryFunction.RELU, false, false, true, false),
                    input(graph, "x", 2, 3),
                    constant(graph, F32, 3, 5),
                    constant(graph, F32, 5),
                    constant(graph, F32, 5, 3)));
    assertThat(legalized.agrees().operations()).containsExactly("linear", "relu", "linear");
  }

  @Test
  void gatedFeedForwardNetworksBecomeLinears() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.Ffn(UnaryFunction.RELU, true, true, false, true),
                    input(graph, "x", 2, 3),
                    constant(graph, F32, 3, 5),
                    constant(graph, F32, 5),
                    constant(graph, F32, 3, 5),
                    constant(graph, F32, 5, 4),
                    constant(graph, F32, 4)));
    assertThat(legalized.agrees().operations())
        .containsExactly("linear", "relu", "linear", "mul", "linear");
  }

  @Test
  void patchesBecomeRowsOfALinear() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.PatchEmbedding(true),
                    input(graph, "image", 2, 3, 4, 6),
                    constant(graph, F32, 5, 3, 2, 3),
                    constant(graph, F32, 5)));
    assertThat(legalized.agrees().operations())
        .containsExactly("reshape", "transpose", "reshape", "linear");
  }

  @ParameterizedTest
  @CsvSource({
    "'abc->ca', matmul 0",
    "'ab,bc->ac', matmul 1",
    "'abc,adc->abd', matmul 1",
    "'ab,cb->ca', matmul 1",
    "'abx,bcy->ac', matmul 1",
    "'a,b->ba', matmul 1",
    "'ab,ab->', matmul 1",
    "'ab,ab->ab', matmul 1",
    "'abcd,abde,abc->abce', matmul 2",
    "'ab,bc,dc->ad', matmul 2",
    "'ac,ad,ac,b->bd', matmul 3"
  })
  void einsumsBecomeProducts(String equation, String products) {
    Contraction.Einsum einsum = new Contraction.Einsum(equation);
    Legalized legalized =
        Legalized.of(
            graph -> {
              List<Value> operands = new ArrayList<>();
              for (String letters : einsum.inputs()) {
                long[] extents = letters.chars().mapToLong(letter -> letter % 5 + 2).toArray();
                operands.add(input(graph, "x" + operands.size(), extents));
              }
              return graph.add(einsum, operands);
            });
    List<String> operations = legalized.agrees().operations();
    assertThat("matmul " + operations.stream().filter("matmul"::equals).count())
        .isEqualTo(products);
    assertThat(operations).doesNotContain("einsum");
  }

  @Test
  void diagonalsStay() {
    Legalized legalized =
        Legalized.of(graph -> graph.add(new Contraction.Einsum("aa->a"), input(graph, "x", 3, 3)));
    assertThat(legalized.agrees().operations()).containsExactly("einsum");
  }

  @Test
  void everyNodeExceptConstantsIsInAGroup() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.Ffn(UnaryFunction.RELU, false, false, false, false),
                    input(graph, "x", 2, 3),
                    constant(graph, F32, 3, 5),
                    constant(graph, F32, 5, 3)));
    List<Group> groups = Groups.of(legalized.after(), true);
    assertThat(groups)
        .extracting(group -> group.nodes().stream().map(node -> node.op().mnemonic()).toList())
        .containsExactly(List.of("linear", "relu"), List.of("linear"));
    assertThat(groups.get(1).operands()).startsWith(groups.getFirst().results().getFirst());
  }

  private static Value requantized(GraphBuilder graph, Value sums) {
    return graph.add(
        new IntegerNetwork.Requantize(4, -128, 127, I8),
        sums,
        constant(graph, I32),
        constant(graph, I32, 4));
  }

  @Test
  void requantizationsBelongToTheirProduct() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(I8, 2, 3));
              Value sums = graph.add(new Contraction.MatMul(I32), x, constant(graph, I8, 3, 4));
              Value bias = constant(graph, I32, 4);
              return requantized(graph, graph.add(new Elementwise.Binary(ADD), bias, sums));
            });
    Group group = Groups.of(legalized.after(), true).getFirst();
    assertThat(group.nodes())
        .extracting(node -> node.op().mnemonic())
        .containsExactly("matmul", "add", "requantize");
    assertThat(group.operands())
        .extracting(value -> value.type().toString())
        .containsExactly("i8[2,3]", "i8[3,4]", "i32[4]", "i32[]", "i32[4]");
    assertThat(Groups.of(legalized.after(), true)).hasSize(1);
  }

  @Test
  void sumsWithOtherUsersAreSeparate() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(I8, 2, 3));
              Value sums = graph.add(new Contraction.MatMul(I32), x, constant(graph, I8, 3, 4));
              Value wide = graph.add(new Elementwise.Cast(I32), requantized(graph, sums));
              return graph.add(new Elementwise.Binary(ADD), sums, wide);
            });
    assertThat(Groups.of(legalized.after(), true))
        .extracting(group -> group.nodes().size())
        .containsExactly(1, 2);
  }

  @Test
  void matricesAreNotBiases() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(I8, 2, 3));
              Value sums = graph.add(new Contraction.MatMul(I32), x, constant(graph, I8, 3, 4));
              Value matrix = constant(graph, I32, 2, 4);
              return requantized(graph, graph.add(new Elementwise.Binary(ADD), sums, matrix));
            });
    assertThat(Groups.of(legalized.after(), true))
        .extracting(Group::epilogues, group -> group.nodes().size())
        .containsExactly(tuple(2, 3));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void indexTuplesBecomeRows(int batch) {
    long[] tuples = {0, -1, 1, 1, -2, 0, 0, 1};
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value data = input(graph, "data", 2, 2, 3, 4);
              TensorType type = TensorType.of(I64, 2, 2, 2);
              return graph.add(
                  new Movement.GatherNd(batch), data, graph.constant(Tensor.ofLongs(type, tuples)));
            });
    assertThat(legalized.agrees().operations()).containsExactly("reshape", "gather");
  }

  @Test
  void cachesAreUpdatedBatchByBatch() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.CacheUpdate(1, false),
                    input(graph, "cache", 2, 4, 3),
                    input(graph, "update", 2, 1, 3),
                    graph.constant(Tensor.ofLongs(TensorType.of(I64, 2), new long[] {3, 1}))));
    assertThat(legalized.agrees().operations())
        .containsOnlyOnce("concat")
        .filteredOn("cache_update"::equals)
        .hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"4", "1,4", "1,2,1,4", "2,1,1,4"})
  void attentionWithLengthsOfKeysIsComputedBatchByBatch(String mask) {
    long[] extents = Arrays.stream(mask.split(",")).mapToLong(Long::parseLong).toArray();
    Structured.Attention attention =
        new Structured.Attention(0.5, 0, false, Dim.of(0), 0, true, true);
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    attention,
                    input(graph, "q", 2, 2, 1, 3),
                    input(graph, "k", 2, 1, 4, 3),
                    input(graph, "v", 2, 1, 4, 3),
                    input(graph, "mask", extents),
                    graph.constant(Tensor.ofLongs(TensorType.of(I64, 2), new long[] {3, 4}))));
    assertThat(legalized.agrees().operations()).filteredOn("attention"::equals).hasSize(2);
  }

  @Test
  void rowsOfNibblesBecomeRowsOfBytes() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value table = constant(graph, U4, 5, 4);
              Value ids = graph.constant(Tensor.ofLongs(TensorType.of(I64, 2), new long[] {3, 1}));
              Value rows = graph.add(new Movement.Gather(0), table, ids);
              return graph.add(
                  new Quantized.Dequantize(0, 0, F32),
                  rows,
                  input(graph, "scale", 2),
                  constant(graph, U4, 2));
            });
    assertThat(legalized.agrees().after().nodes())
        .extracting(node -> node.result().type().element())
        .doesNotContain(U4);
  }

  @Test
  void floatsOf16BitsAreComputedWithIn32() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(F16, 2, 3));
              Value sums =
                  graph.add(new Structured.Linear(false, false), x, constant(graph, F16, 3, 4));
              Value moved = graph.add(new Movement.Transpose(List.of(1, 0)), sums);
              Value tokens = graph.add(new Elementwise.Unary(UnaryFunction.RELU), moved);
              return graph.add(new Elementwise.Cast(I32), tokens);
            });
    assertThat(legalized.agrees().operations())
        .containsExactly("cast", "linear", "transpose", "relu", "cast");
  }

  @Test
  void floatsOf16BitsThatOnlyMoveStay() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(F16, 2, 3));
              return graph.add(new Movement.Transpose(List.of(1, 0)), x);
            });
    assertThat(legalized.agrees().operations()).containsExactly("transpose");
  }
}
