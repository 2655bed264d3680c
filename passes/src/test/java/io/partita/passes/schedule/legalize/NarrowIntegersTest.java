package io.partita.passes.schedule.legalize;

import static io.partita.ir.type.ElementType.I16;
import static io.partita.ir.type.ElementType.I32;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U8;
import static io.partita.passes.schedule.legalize.Legalized.constant;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NarrowIntegersTest {
  private static Value requantized(GraphBuilder graph, Value x, long low, long high) {
    return graph.add(
        new IntegerNetwork.Requantize(2, low, high, I32),
        x,
        constant(graph, I32, 4),
        constant(graph, I32, 4));
  }

  private static Value input(GraphBuilder graph) {
    return graph.input("x", TensorType.of(I32, 2, 3, 4));
  }

  /** Returns mnemonics with the types of their results. */
  private static List<String> typed(Legalized legalized) {
    return legalized.after().nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .map(NarrowIntegersTest::typed)
        .toList();
  }

  private static String typed(Node node) {
    return node.op().mnemonic() + " " + node.result().type().element();
  }

  @ParameterizedTest
  @CsvSource({"-128, 127, i8", "0, 255, u8", "0, 100, i8"})
  void aProductReadsWhatWasRequantizedTo8Bits(long low, long high, String type) {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Contraction.MatMul(I32),
                    requantized(graph, input(graph), low, high),
                    constant(graph, I8, 4, 5)));
    assertThat(typed(legalized.agrees())).containsExactly("requantize " + type, "matmul i32");
  }

  @Test
  void aRangeOfMoreThan8BitsStaysWide() {
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Contraction.MatMul(I32),
                    requantized(graph, input(graph), -129, 127),
                    constant(graph, I8, 4, 5)));
    assertThat(typed(legalized.agrees())).containsExactly("requantize i32", "matmul i32");
  }

  @Test
  void valuesOfASingleSumStayWide() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = input(graph);
              Value y = requantized(graph, x, -128, 127);
              return graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, y);
            });
    assertThat(typed(legalized.agrees())).containsExactly("requantize i32", "add i32");
  }

  @Test
  void movementsAndMaximaArePassed() {
    Window window = new Window(List.of(2L), List.of(1L), List.of(1L), List.of(1L), List.of(0L));
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = requantized(graph, input(graph), -128, 127);
              Value y = graph.add(new Movement.Transpose(List.of(0, 2, 1)), x);
              Value z = graph.add(new Contraction.Pool(true, window, false, false, false), y);
              return graph.add(new Contraction.MatMul(I32), z, constant(graph, I8, 3, 5));
            });
    assertThat(typed(legalized.agrees()))
        .containsExactly("requantize i8", "transpose i8", "max_pool i8", "matmul i32");
  }

  @Test
  void maximaOfPaddingAreNotPassed() {
    Window window = new Window(List.of(2L), List.of(1L), List.of(1L), List.of(2L), List.of(0L));
    Legalized legalized =
        Legalized.of(
            graph ->
                graph.add(
                    new Contraction.Pool(true, window, false, false, false),
                    requantized(graph, input(graph), -128, 127)));
    assertThat(typed(legalized.agrees())).containsExactly("requantize i32", "max_pool i32");
  }

  @ParameterizedTest
  @CsvSource({"-128, 127, i8", "0, 255, u8"})
  void softmaxAndNormWrapAndAreReadUnwrapped(long low, long high, ElementTypeName type) {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = requantized(graph, input(graph), low, high);
              Value weights = graph.add(new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256), x);
              Value left =
                  graph.add(new Contraction.MatMul(I32), weights, constant(graph, I8, 4, 4));
              Value norm =
                  graph.add(
                      new IntegerNetwork.IntegerNorm(NormKind.RMS, 2, -128, 127),
                      x,
                      constant(graph, I32, 4));
              Value right = graph.add(new Contraction.MatMul(I32), norm, constant(graph, I8, 4, 4));
              return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
            });
    ElementType element = type == ElementTypeName.i8 ? I8 : U8;
    List<String> types = typed(legalized.agrees());
    assertThat(types).contains("integer_softmax " + element, "integer_rms_norm " + element);
    assertThat(types).doesNotContain("cast i32");
  }

  enum ElementTypeName {
    i8,
    u8
  }

  @Test
  void typesWithoutAKernelAreWidened() {
    Legalized legalized =
        Legalized.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(I16, 2, 3));
              Value y = graph.add(new Elementwise.Binary(BinaryFunction.SUB), x, x);
              return graph.add(new Contraction.MatMul(I32), y, constant(graph, U8, 3, 4));
            });
    assertThat(typed(legalized.agrees())).contains("sub i32", "matmul i32");
    assertThat(typed(legalized)).doesNotContain("sub i16");
  }
}
