package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that extents don't exceed the rows of a table for any form of positions. */
class PositionTablesTest {
  private static final int ROWS = 32;
  private static final Dim SEQ = Dim.symbol("seq");

  private final GraphBuilder graph = new GraphBuilder("main");

  private Value table(int... shape) {
    Dim[] dims = java.util.Arrays.stream(shape).mapToObj(Dim::of).toArray(Dim[]::new);
    return graph.constant(Tensor.filled(new TensorType(ElementType.F32, Shape.of(dims)), 0.5));
  }

  private Value input(String name, ElementType element, Dim... dims) {
    return graph.input(name, new TensorType(element, Shape.of(dims)));
  }

  private Value counted(Dim size) {
    return graph.add(new Source.Iota(size, ElementType.I64));
  }

  private PositionTables taking(Op op, Value table, Value indices) {
    graph.output("rows", graph.add(op, table, indices));
    return PositionTables.of(graph.finish());
  }

  private static boolean reaches(PositionTables tables, long seq) {
    return tables.reach(Map.of("seq", Dim.of(seq)), Set.of("seq"));
  }

  private static void assertRows(PositionTables tables, long rows) {
    assertThat(reaches(tables, rows)).as("%d", rows).isTrue();
    assertThat(reaches(tables, rows + 1)).as("%d", rows + 1).isFalse();
  }

  /** Positions as in Whisper's decoder, which depend on no input. */
  @Test
  void positionsThatReadNoInputAreCounted() {
    PositionTables tables = taking(new Movement.Gather(0), table(ROWS, 2), counted(SEQ));
    assertRows(tables, ROWS);
    assertThat(tables.missing(Map.of("seq", Dim.of(ROWS)))).isEmpty();
    PositionTables.MissingRow missing = tables.missing(Map.of("seq", Dim.of(40))).orElseThrow();
    assertThat(missing.expected()).isEqualTo("an index below 32");
    assertThat(missing.found()).isEqualTo("32");
  }

  @Test
  void embeddingsAndOtherGathersHaveRowsToo() {
    Value seq = graph.add(new Movement.Reshape(Shape.of(SEQ, Dim.ONE)), counted(SEQ));
    graph.output("elements", graph.add(new Movement.GatherElements(0), table(24, 1), seq));
    graph.output("tuples", graph.add(new Movement.GatherNd(0), table(16, 3), seq));
    Graph whole;
    graph.output("rows", graph.add(new Structured.Embedding(), table(ROWS, 2), seq));
    whole = graph.finish();
    assertRows(PositionTables.of(whole), 16);
  }

  /**
   * Positions as in RoBERTa: a running count of tokens without padding, after the row of padding.
   */
  @Test
  void realTokensAreCounted() {
    Value ids = input("input_ids", ElementType.I64, Dim.ONE, SEQ);
    Value padding = graph.constant(Tensor.scalar(ElementType.I64, 1));
    Value real = graph.add(new Elementwise.Binary(BinaryFunction.GREATER), ids, padding);
    Value ones = graph.add(new Elementwise.Cast(ElementType.I64), real);
    Value count = graph.add(new Reduction.Cumulative(false, 1, false, false), ones);
    Value positions = graph.add(new Elementwise.Binary(BinaryFunction.ADD), count, padding);
    PositionTables tables = taking(new Movement.Gather(0), table(ROWS, 2), positions);
    assertRows(tables, ROWS - 2);
    assertThat(tables.missing(Map.of("seq", Dim.of(99)))).as("padding needs no rows").isEmpty();
  }

  @Test
  void inputPositionsAreAssumedToAscend() {
    Value ids = input("position_ids", ElementType.I64, Dim.ONE, SEQ);
    assertRows(taking(new Structured.Embedding(), table(ROWS, 2), ids), ROWS);
  }

  @Test
  void computedTablesHaveRowsToo() {
    Value table = input("features", ElementType.F32, Dim.of(8), Dim.of(2));
    assertRows(taking(new Movement.Gather(0), table, counted(SEQ)), 8);
  }

  /** Positions as in Longformer's windows, counted for two sequences. */
  @Test
  void tablesMayBeLongerForMoreSequences() {
    Value table = input("features", ElementType.F32, Dim.symbol("batch").times(Dim.of(8)));
    Value last = graph.constant(Tensor.longs(Shape.of(2), 3, 15));
    PositionTables tables = taking(new Movement.Gather(0), table, last);
    assertThat(tables.reach(Map.of("batch", Dim.of(1)), Set.of("batch"))).isFalse();
    assertThat(tables.reach(Map.of("batch", Dim.of(2)), Set.of("batch"))).isTrue();
  }

  @Test
  void tokensAreNotPositions() {
    Value ids = input("input_ids", ElementType.I64, Dim.ONE, SEQ);
    assertThat(reaches(taking(new Structured.Embedding(), table(2, 2), ids), 512)).isTrue();
  }

  @Test
  void valuesOfOtherSymbolsAreIgnored() {
    PositionTables tables =
        taking(new Movement.Gather(0), table(ROWS, 2), counted(Dim.symbol("past").plus(SEQ)));
    assertThat(reaches(tables, 512)).as("past is open").isTrue();
    assertThat(tables.reach(Map.of("past", Dim.of(99)), Set.of("width"))).isTrue();
    assertThat(tables.reach(Map.of("past", Dim.of(20), "seq", Dim.of(13)), Set.of("seq")))
        .isFalse();
  }
}
