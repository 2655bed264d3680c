package io.partita.passes.schedule.legalize;

import static io.partita.ir.type.ElementType.F32;
import static io.partita.passes.schedule.legalize.Legalized.constant;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LegalizationTest {
  private static Value input(GraphBuilder graph, String name, long... extents) {
    return graph.input(name, TensorType.of(F32, extents));
  }

  @Test
  void aFeedForwardNetworkIsLinears() {
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
  void aGatedFeedForwardNetworkIsLinears() {
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
  void patchesAreRowsOfALinear() {
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
    "'ab,ab->ab', matmul 1"
  })
  void anEinsumIsAProduct(String equation, String products) {
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
  void aDiagonalStays() {
    Legalized legalized =
        Legalized.of(graph -> graph.add(new Contraction.Einsum("aa->a"), input(graph, "x", 3, 3)));
    assertThat(legalized.agrees().operations()).containsExactly("einsum");
  }

  @Test
  void everyNodeButConstantsIsInAGroup() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Structured.Ffn(UnaryFunction.RELU, false, false, false, false),
                    input(graph, "x", 2, 3),
                    constant(graph, F32, 3, 5),
                    constant(graph, F32, 5, 3)));
    List<Group> groups = Groups.of(legalized.after());
    assertThat(groups)
        .extracting(group -> group.first().op().mnemonic())
        .containsExactly("linear", "relu", "linear");
    assertThat(groups.get(1).operands()).isEqualTo(groups.get(0).results());
  }
}
