package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that masks of exporters become functions of positions, or operands computed from them. */
class KvStateMasksTest {
  private static final double LOWEST = -3.4028234663852886e38;

  /** {@code fill * (key > query)}, with padding filled again. */
  static Value productWithPadding(SmallDecoder d) {
    Value later = d.binary(BinaryFunction.GREATER, d.keys(), d.queries());
    Value causal = d.binary(BinaryFunction.MUL, d.real(LOWEST), d.cast(later, ElementType.F32));
    Shape full = Shape.of(Dim.of(SmallDecoder.BATCH), Dim.ONE, Dim.of(d.n), d.total());
    Value wide = d.graph.add(new Movement.Broadcast(full), causal);
    Value padding =
        d.graph.add(
            new Movement.Reshape(Shape.of(Dim.of(SmallDecoder.BATCH), Dim.ONE, Dim.ONE, d.total())),
            d.cast(d.attentionMask(), ElementType.F32));
    Value sum = d.binary(BinaryFunction.ADD, wide, padding);
    Value isPadding = d.binary(BinaryFunction.EQUAL, sum, d.real(0));
    return d.select(isPadding, d.real(LOWEST), wide);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void productsWithPaddingAreCausal(int n) {
    SmallDecoder d = new SmallDecoder(n).masked(KvStateMasksTest::productWithPadding).agrees();
    assertThat(d.attention().mask()).isFalse();
    assertThat(d.attention().causal()).isEqualTo(n > 1);
    assertThat(d.state().graph().inputs())
        .extracting(Value::name)
        .doesNotContain("attention_mask")
        .contains("position");
    assertThat(d.notes).extracting(note -> note.code().id()).containsExactly("P4010");
  }

  /** A sum of a causal mask and one that hides keys at least four tokens back. */
  static Value localSum(SmallDecoder d) {
    Value distance = d.binary(BinaryFunction.SUB, d.queries(), d.keys());
    Value near = d.binary(BinaryFunction.LESS, distance, d.whole(4));
    Value local = d.select(near, d.real(0), d.real(LOWEST));
    return d.binary(BinaryFunction.ADD, productWithPadding(d), local);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void sumsWithALocalMaskAreWindows(int n) {
    SmallDecoder d = new SmallDecoder(n).masked(KvStateMasksTest::localSum).agrees();
    assertThat(d.attention().mask()).isFalse();
    assertThat(d.attention().causal()).isTrue();
    assertThat(d.attention().window()).isEqualTo(4);
  }

  /** Slopes times a running sum of the mask, as in BLOOM. */
  static Value runningSum(SmallDecoder d) {
    Value mask = d.attentionMask();
    Value sum = d.graph.add(new Reduction.Cumulative(false, 1, false, false), mask);
    Shape shape = Shape.of(Dim.of(SmallDecoder.BATCH), Dim.ONE, Dim.ONE, d.total());
    Value at =
        d.graph.add(
            new Movement.Reshape(shape),
            d.cast(d.binary(BinaryFunction.SUB, sum, d.whole(1)), ElementType.F32));
    Value slopes = d.graph.constant(Tensor.floats(Shape.of(1, 2, 1, 1), 0.7f, 0.3f));
    Value bias = d.binary(BinaryFunction.MUL, slopes, at);
    Value later = d.binary(BinaryFunction.GREATER, d.keys(), d.queries());
    return d.select(later, d.real(LOWEST), bias);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void biasesByKeyAreConstantsOfTheCapacity(int n) {
    SmallDecoder d = new SmallDecoder(n).masked(KvStateMasksTest::runningSum).agrees();
    assertThat(d.attention().mask()).isTrue();
    assertThat(operations(d)).doesNotContain("gather", "cumulative_sum");
  }

  /** A table of few distances per head, as in T5. */
  static Value buckets(SmallDecoder d) {
    Value distance = d.binary(BinaryFunction.SUB, d.queries(), d.keys());
    Value bucket =
        d.binary(
            BinaryFunction.MIN, d.binary(BinaryFunction.MAX, distance, d.whole(0)), d.whole(3));
    Value table =
        d.graph.constant(
            Tensor.floats(Shape.of(4, 2), 0.1f, -0.4f, 0.9f, 1.3f, -0.8f, 0.2f, 0.5f, 0.6f));
    Value rows = d.graph.add(new Movement.Gather(0), table, bucket);
    Value bias = d.graph.add(new Movement.Transpose(List.of(2, 0, 1)), rows);
    Value later = d.binary(BinaryFunction.GREATER, d.keys(), d.queries());
    return d.select(later, d.real(-1e9), bias);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void biasesByDistanceAreReadAtThePosition(int n) {
    SmallDecoder d = new SmallDecoder(n).masked(KvStateMasksTest::buckets).agrees();
    assertThat(d.attention().mask()).isTrue();
    assertThat(operations(d)).contains("gather").doesNotContain("min");
  }

  /** Biases stay floats where queries and keys are integers. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void attentionsOfIntegersHaveBiases(int n) {
    for (Function<SmallDecoder, Value> mask :
        List.<Function<SmallDecoder, Value>>of(
            KvStateMasksTest::runningSum, KvStateMasksTest::buckets)) {
      SmallDecoder d = new SmallDecoder(n, 0.01).masked(mask).agrees();
      assertThat(d.attention().isInteger()).isTrue();
      assertThat(d.attention().mask()).isTrue();
    }
  }

  /** Shows only keys in the query's block of five. */
  static Value blocks(SmallDecoder d) {
    Value query = d.binary(BinaryFunction.DIV, d.queries(), d.whole(5));
    Value key = d.binary(BinaryFunction.DIV, d.keys(), d.whole(5));
    Value same = d.binary(BinaryFunction.EQUAL, query, key);
    Value seen = d.binary(BinaryFunction.LESS_OR_EQUAL, d.keys(), d.queries());
    return d.binary(BinaryFunction.AND, same, seen);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void irregularMasksAreTablesOfPositions(int n) {
    SmallDecoder d = new SmallDecoder(n).masked(KvStateMasksTest::blocks).agrees();
    assertThat(d.attention().mask()).isTrue();
    assertThat(d.attention().causal()).isFalse();
  }

  /** Zeros, which remain of an unneeded comparison for one token. */
  static Value nothing(SmallDecoder d) {
    return d.graph.constant(Tensor.filled(new TensorType(ElementType.F32, Shape.of(1, 1)), 0));
  }

  /** Zeros, or minus infinity for the key at position 2, which is irregular. */
  static Value aHole(SmallDecoder d) {
    Value isHole = d.binary(BinaryFunction.EQUAL, d.keys(), d.whole(2));
    Value isLate = d.binary(BinaryFunction.LESS, d.whole(3), d.queries());
    Value hides = d.binary(BinaryFunction.AND, isHole, isLate);
    return d.select(hides, d.real(LOWEST), d.real(0));
  }

  @Test
  void masksThatShowLaterTokensAreNoted() {
    for (Function<SmallDecoder, Value> mask :
        List.<Function<SmallDecoder, Value>>of(
            KvStateMasksTest::nothing, KvStateMasksTest::aHole)) {
      SmallDecoder several = new SmallDecoder(3).masked(mask).agrees();
      assertThat(several.notes).extracting(note -> note.code().id()).containsExactly("P4013");
      assertThat(new SmallDecoder(1).masked(mask).agrees().notes).isEmpty();
    }
    assertThat(new SmallDecoder(3).masked(KvStateMasksTest::blocks).agrees().notes).isEmpty();
  }

  @Test
  void masksThatDependOnInputsAreRefused() {
    SmallDecoder d =
        new SmallDecoder(1)
            .masked(
                one ->
                    one.binary(
                        BinaryFunction.MUL,
                        one.input("slope", ElementType.F32, Dim.ONE),
                        one.cast(one.keys(), ElementType.F32)));
    assertThatThrownBy(d::state)
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4009")
        .hasMessageContaining("one that also depends on the input slope");
  }

  @Test
  void cachesLongerThanThePositionsOfTheModelAreRefused() {
    SmallDecoder d =
        new SmallDecoder(1)
            .masked(
                one -> {
                  Value table = one.graph.constant(diagonals());
                  return one.graph.add(
                      new Movement.Slice(
                          List.of(SmallDecoder.PAST, Dim.ZERO),
                          List.of(Dim.ONE, one.total()),
                          List.of(1L, 1L)),
                      table);
                });
    assertThatThrownBy(d::state)
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4012")
        .hasMessageContaining("position 8")
        .hasMessageContaining("choose kv-state(capacity=8), or less");
  }

  /** Eight rows that each hide every third key. */
  private static Tensor diagonals() {
    double[] seen = new double[64];
    for (int i = 0; i < seen.length; i++) {
      seen[i] = (i / 8 - i % 8) % 3 == 0 ? 1 : 0;
    }
    return Tensor.ofDoubles(new TensorType(ElementType.BOOL, Shape.of(8, 8)), seen);
  }

  /** A position counted from the mask, as in OPT. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void positionsCountedFromTheMask(int n) {
    SmallDecoder decoder = new SmallDecoder(n);
    Value counted =
        decoder.graph.add(
            new Movement.Slice(
                List.of(Dim.ZERO, SmallDecoder.PAST),
                List.of(Dim.of(SmallDecoder.BATCH), Dim.of(n)),
                List.of(1L, 1L)),
            decoder.graph.add(
                new Reduction.Cumulative(false, 1, false, false), decoder.attentionMask()));
    Value table = decoder.graph.constant(rows(SmallDecoder.CAPACITY + 2));
    Value rows = decoder.graph.add(new Structured.Embedding(), table, counted);
    decoder.graph.output("z", rows);
    decoder.masked(KvStateMasksTest::blocks).agrees();
    assertThat(operations(decoder)).doesNotContain("cumulative_sum");
  }

  private static Tensor rows(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = i * 0.25f;
    }
    return Tensor.floats(Shape.of(count, 1), values);
  }

  private static List<String> operations(SmallDecoder d) {
    return d.state().graph().nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .map(node -> node.op().mnemonic())
        .toList();
  }
}
