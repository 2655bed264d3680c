package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a cache is not longer than a table of positions. */
class PositionRowsTest {
  private static final int FEATURES = 2;

  private static Value table(SmallDecoder d, int rows) {
    return d.graph.constant(
        Tensor.filled(new TensorType(ElementType.F32, Shape.of(rows, FEATURES)), 0.5));
  }

  private static Value positionIds(SmallDecoder d) {
    return d.input("position_ids", ElementType.I64, Dim.of(SmallDecoder.BATCH), Dim.of(d.n));
  }

  private static SmallDecoder withRows(SmallDecoder d, int rows, Value indices) {
    d.graph.output("rows", d.graph.add(new Movement.Gather(0), table(d, rows), indices));
    return d.masked(KvStateMasksTest::productWithPadding);
  }

  private static CapacityBeyondModel refused(SmallDecoder d) {
    Module module = new Module(d.graph.finish());
    KvStatePass pass = new KvStatePass(SmallDecoder.CAPACITY, note -> {});
    return catchThrowableOfType(CapacityBeyondModel.class, () -> pass.keep(module));
  }

  @ParameterizedTest
  @CsvSource({"1, 9", "1, 1", "1, 11", "3, 9", "3, 11"})
  void tablesReadByInputPositionsLimitTheCapacity(int n, int rows) {
    SmallDecoder d = new SmallDecoder(n);
    CapacityBeyondModel beyond = refused(withRows(d, rows, positionIds(d)));
    assertThat(beyond.positions()).isEqualTo(rows);
    assertThat(beyond.diagnosed("")).hasMessageContaining("P4012").hasMessageContaining("rows");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void tablesReadByComputedPositionsLimitTheCapacity(int n) {
    SmallDecoder d = new SmallDecoder(n);
    assertThat(refused(withRows(d, 8, d.queries())).positions()).isEqualTo(8);
  }

  @Test
  void embeddingsHaveRowsToo() {
    SmallDecoder d = new SmallDecoder(1);
    Value ids = positionIds(d);
    d.graph.output("rows", d.graph.add(new Structured.Embedding(), table(d, 7), ids));
    assertThat(refused(d.masked(KvStateMasksTest::productWithPadding)).positions()).isEqualTo(7);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void tablesWithEnoughRowsAreNoLimit(int n) {
    SmallDecoder d = new SmallDecoder(n);
    withRows(d, SmallDecoder.CAPACITY, positionIds(d)).agrees();
  }

  @Test
  void positionsThatAreClippedOrOfOtherInputsAreNoLimit() {
    SmallDecoder d = new SmallDecoder(1);
    Value clipped = d.binary(BinaryFunction.MIN, positionIds(d), d.whole(3));
    Value ids = d.input("input_ids", ElementType.I64, Dim.of(SmallDecoder.BATCH), Dim.ONE);
    d.graph.output("tokens", d.graph.add(new Movement.Gather(0), table(d, 2), ids));
    assertThat(withRows(d, 4, clipped).state().states()).hasSize(2);
  }
}
