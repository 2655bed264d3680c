package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loops load what a reshape joins from where its parts are, unless a copy is faster. */
class ReorderedValuesTest extends EvaluatedLoops {
  /** The columns that three devices computed of five rows, as a gather gives them. */
  private static Value joined(GraphBuilder graph, ElementType element, long columns) {
    Value parts = graph.input("parts", TensorType.of(element, 3, 5, columns));
    Value rows = graph.add(new Movement.Transpose(List.of(1, 0, 2)), parts);
    return graph.add(new Movement.Reshape(Shape.of(5, 3 * columns)), rows);
  }

  private Value product(GraphBuilder graph, Value left, long columns) {
    long depth = left.type().shape().extent(1);
    return graph.add(
        new Contraction.MatMul(ElementType.I32),
        left,
        weight(graph, ElementType.I8, depth, columns));
  }

  private static TileOperand operand(TiledKernel loop, String name) {
    return loop.operands().stream().filter(each -> each.name().equals(name)).findFirst().get();
  }

  @ParameterizedTest
  @CsvSource({"8, 100000", "6, 100000", "7, 100000", "8, 1000", "7, 500", "13, 1100"})
  void aProductLoadsItsRows(long columns, long l1) {
    assertThat(kernels(graph -> product(graph, joined(graph, ElementType.I8, columns), 17), l1))
        .singleElement()
        .satisfies(
            loop ->
                assertThat(operand(loop, "left").box())
                    .extracting(BoxDimension::stride)
                    .containsExactly(columns, 5 * columns, 1L));
  }

  /** A part of the depth consists of whole columns of devices. */
  @Test
  void tilesAreWholeParts() {
    List<TiledKernel> loops =
        kernels(graph -> product(graph, joined(graph, ElementType.I8, 304), 8), 5000);
    assertThat(loops)
        .singleElement()
        .satisfies(
            loop ->
                assertThat(loop.axes())
                    .filteredOn(axis -> axis.name().equals("k"))
                    .extracting(TileAxis::tile)
                    .allMatch(tile -> tile % 304 == 0 && tile < 912)
                    .isNotEmpty());
  }

  @ParameterizedTest
  @CsvSource({"64, 100000", "7, 100000", "7, 300", "9, 700"})
  void functionsOfElementsLoadTheirRows(long columns, long l1) {
    Function<GraphBuilder, Value> functions =
        graph -> {
          Value sums = joined(graph, ElementType.I32, columns);
          Value floats = graph.add(new Elementwise.Cast(ElementType.F32), sums);
          Value scaled =
              graph.add(
                  new Elementwise.Binary(BinaryFunction.MUL),
                  floats,
                  weight(graph, ElementType.F32, 3 * columns));
          return graph.add(
              new Elementwise.Binary(BinaryFunction.ADD),
              weight(graph, ElementType.F32, 5, 3 * columns),
              scaled);
        };
    assertThat(loops(functions, l1)).first().asString().startsWith("[cast_i32_f32");
    assertThat(loops(functions, l1)).noneMatch(calls -> calls.contains("copy"));
  }

  @ParameterizedTest
  @CsvSource({"64, 100000", "7, 100000", "7, 300"})
  void reductionsLoadTheirRows(long columns, long l1) {
    List<String> loops =
        loops(
            graph ->
                graph.add(
                    new Reduction.Reduce(ReductionKind.MAX, List.of(1), false),
                    joined(graph, ElementType.F32, columns)),
            l1);
    assertThat(loops).containsExactly("[reduce_max_f32]");
  }

  /** Each reader loads them, and the second one as its other operand. */
  @Test
  void allReadersLoadThem() {
    List<String> loops =
        loops(
            graph -> {
              Value joined = joined(graph, ElementType.F32, 8);
              Value active = graph.add(new Elementwise.Unary(UnaryFunction.TANH), joined);
              Value turned = graph.add(new Elementwise.Unary(UnaryFunction.EXP), active);
              return graph.add(new Elementwise.Binary(BinaryFunction.MUL), turned, joined);
            },
            ROOM);
    assertThat(loops).noneMatch(calls -> calls.contains("copy"));
  }

  /** The last dimension of the source isn't that of rows. */
  @Test
  void columnsThatAreApartAreCopied() {
    List<String> loops =
        loops(
            graph -> {
              Value parts = graph.input("parts", TensorType.of(ElementType.F32, 5, 8, 3));
              Value turned = graph.add(new Movement.Transpose(List.of(0, 2, 1)), parts);
              Value rows = graph.add(new Movement.Reshape(Shape.of(5, 24)), turned);
              return graph.add(new Elementwise.Unary(UnaryFunction.TANH), rows);
            },
            ROOM);
    assertThat(loops).hasSize(2).first().isEqualTo("[copy_32]");
  }

  /** A concatenation needs the elements in its result. */
  @Test
  void partsOfOtherValuesAreCopied() {
    List<String> loops =
        loops(
            graph -> {
              Value joined = joined(graph, ElementType.F32, 8);
              Value other = graph.add(new Elementwise.Unary(UnaryFunction.TANH), joined);
              return graph.add(new Movement.Concat(0), joined, other);
            },
            ROOM);
    assertThat(loops).first().isEqualTo("[copy_32]");
  }

  /** Loads of two elements at a time, again for each tile of columns, take longer than a copy. */
  @Test
  void whatIsLoadedOftenIsCopied() {
    List<String> loops = loops(graph -> product(graph, manyParts(graph), 1000), 3000);
    assertThat(loops).containsExactly("[copy_8]", "[gemm_i8_i8]");
  }

  private static Value manyParts(GraphBuilder graph) {
    Value parts = graph.input("parts", TensorType.of(ElementType.I8, 100, 8, 2));
    Value rows = graph.add(new Movement.Transpose(List.of(1, 0, 2)), parts);
    return graph.add(new Movement.Reshape(Shape.of(8, 200)), rows);
  }
}
