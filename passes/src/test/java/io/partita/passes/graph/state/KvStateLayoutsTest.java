package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Caches in the layouts of exporters are stored in the layout of attentions. */
class KvStateLayoutsTest {
  private static final Dim BATCH = Dim.of(SmallDecoder.BATCH);
  private static final Dim HEADS = Dim.of(SmallDecoder.HEADS);
  private static final Dim FEATURES = Dim.of(SmallDecoder.FEATURES);

  /** Keys and values side by side, {@code [batch, past, 2 d]}, for all heads. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void keysAndValuesInOneInputBecomeTwoStates(int n) {
    SmallDecoder d = new SmallDecoder(n);
    Dim both = FEATURES.plus(FEATURES);
    Value past = d.input("past_kv", ElementType.F32, BATCH, SmallDecoder.PAST, both);
    Value fresh = d.input("kv", ElementType.F32, BATCH, Dim.of(n), both);
    Value joined = d.graph.add(new Movement.Concat(1), past, fresh);
    d.graph.output("present_kv", joined);
    d.attend(part(d, joined, 0), part(d, joined, SmallDecoder.FEATURES), null).agrees();
    assertThat(d.state().states()).hasSize(2);
    assertThat(d.state().graph().inputs())
        .filteredOn(input -> input.name().startsWith("past_kv"))
        .extracting(input -> input.type().toString())
        .containsExactly("f32[2,1,12,4]", "f32[2,1,12,4]");
  }

  private static Value part(SmallDecoder d, Value joined, long from) {
    Value part =
        d.graph.add(
            new Movement.Slice(
                List.of(Dim.ZERO, Dim.ZERO, Dim.of(from)),
                List.of(BATCH, d.total(), FEATURES),
                List.of(1L, 1L, 1L)),
            joined);
    return d.graph.add(new Movement.Reshape(Shape.of(BATCH, Dim.ONE, d.total(), FEATURES)), part);
  }

  /** {@code [batch*heads, d, past]} for keys and {@code [batch, past, heads, d]} for values. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void transposedCachesAreTransposedBeforeStorage(int n) {
    SmallDecoder d = new SmallDecoder(n);
    Value pastKey =
        d.input("past_key", ElementType.F32, BATCH.times(HEADS), FEATURES, SmallDecoder.PAST);
    Value key = d.input("key", ElementType.F32, BATCH.times(HEADS), FEATURES, Dim.of(n));
    Value keys = d.graph.add(new Movement.Concat(2), pastKey, key);
    Value pastValue =
        d.input("past_value", ElementType.F32, BATCH, SmallDecoder.PAST, HEADS, FEATURES);
    Value value = d.input("value", ElementType.F32, BATCH, Dim.of(n), HEADS, FEATURES);
    Value values = d.graph.add(new Movement.Concat(1), pastValue, value);
    d.graph.output("present_key", keys);
    d.graph.output("present_value", values);
    Value turned = d.graph.add(new Movement.Transpose(List.of(0, 2, 1)), keys);
    d.attend(
            d.graph.add(new Movement.Reshape(Shape.of(BATCH, HEADS, d.total(), FEATURES)), turned),
            d.graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), values),
            null)
        .agrees();
    assertThat(d.state().graph().inputs())
        .filteredOn(input -> input.name().startsWith("past"))
        .extracting(input -> input.type().toString())
        .containsExactly("f32[2,2,12,4]", "f32[2,2,12,4]");
  }

  /** A cache that the model writes at a position counted from the mask, as GroupQueryAttention. */
  @Test
  void cachesWrittenAfterValidKeysHaveTheCapacity() {
    SmallDecoder d = new SmallDecoder(1);
    Value ones = d.attentionMask();
    Value count = d.graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1), false), ones);
    Value start = d.binary(BinaryFunction.SUB, count, d.whole(1));
    Value keys = written(d, "key", start);
    Value values = written(d, "value", start);
    Structured.Attention attention =
        new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, true);
    d.graph.output("y", d.graph.add(attention, d.fresh("query"), keys, values, count));
    d.agrees();
    assertThat(d.state().graph().inputs()).extracting(Value::name).doesNotContain("attention_mask");
  }

  private static Value written(SmallDecoder d, String what, Value start) {
    Value past =
        d.input("past_" + what, ElementType.F32, BATCH, HEADS, SmallDecoder.PAST, FEATURES);
    Value at = d.graph.add(new Source.Iota(SmallDecoder.PAST, ElementType.I64));
    Value column = d.graph.add(new Movement.Reshape(Shape.of(BATCH, Dim.ONE)), start);
    Value valid =
        d.graph.add(
            new Movement.Reshape(Shape.of(BATCH, Dim.ONE, SmallDecoder.PAST, Dim.ONE)),
            d.binary(BinaryFunction.LESS, at, column));
    Value kept = d.select(valid, past, d.real(0));
    Value room =
        d.graph.add(new Movement.Broadcast(Shape.of(BATCH, HEADS, Dim.ONE, FEATURES)), d.real(0));
    Value wide = d.graph.add(new Movement.Concat(2), kept, room);
    Value present = d.graph.add(new Structured.CacheUpdate(2, false), wide, d.fresh(what), start);
    d.graph.output("present_" + what, present);
    return present;
  }

  /** {@code [2, batch, heads, past, d]}, as GPT-2 was exported for long. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void stackedKeysAndValuesBecomeTwoStates(int n) {
    SmallDecoder d = new SmallDecoder(n);
    Value past =
        d.input("past", ElementType.F32, Dim.of(2), BATCH, HEADS, SmallDecoder.PAST, FEATURES);
    Value keys = d.graph.add(new Movement.Concat(2), cut(d, past, 0), d.fresh("key"));
    Value values = d.graph.add(new Movement.Concat(2), cut(d, past, 1), d.fresh("value"));
    Shape one = Shape.of(Dim.ONE, BATCH, HEADS, d.total(), FEATURES);
    d.graph.output(
        "present",
        d.graph.add(
            new Movement.Concat(0),
            d.graph.add(new Movement.Reshape(one), keys),
            d.graph.add(new Movement.Reshape(one), values)));
    d.attend(keys, values, null).agrees();
    assertThat(d.state().graph().inputs())
        .filteredOn(input -> input.name().startsWith("past"))
        .extracting(input -> input.name() + ": " + input.type())
        .containsExactly("past.0: f32[2,2,12,4]", "past.1: f32[2,2,12,4]");
  }

  private static Value cut(SmallDecoder d, Value past, long index) {
    Value part =
        d.graph.add(
            new Movement.Slice(
                List.of(Dim.of(index), Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.ZERO),
                List.of(Dim.ONE, BATCH, HEADS, SmallDecoder.PAST, FEATURES),
                List.of(1L, 1L, 1L, 1L, 1L)),
            past);
    return d.graph.add(
        new Movement.Reshape(Shape.of(BATCH, HEADS, SmallDecoder.PAST, FEATURES)), part);
  }

  /** Tests that keys and values that are swapped between runs aren't a cache. */
  @Test
  void swappedPartsAreNotDivided() {
    SmallDecoder d = new SmallDecoder(1);
    Value past =
        d.input("past", ElementType.F32, Dim.of(2), BATCH, HEADS, SmallDecoder.PAST, FEATURES);
    Value keys = d.graph.add(new Movement.Concat(2), cut(d, past, 0), d.fresh("key"));
    Value values = d.graph.add(new Movement.Concat(2), cut(d, past, 1), d.fresh("value"));
    Shape one = Shape.of(Dim.ONE, BATCH, HEADS, d.total(), FEATURES);
    d.graph.output(
        "present",
        d.graph.add(
            new Movement.Concat(0),
            d.graph.add(new Movement.Reshape(one), values),
            d.graph.add(new Movement.Reshape(one), keys)));
    d.attend(keys, values, null);
    assertThatThrownBy(d::state).isInstanceOf(PartitaException.class).hasMessageContaining("P4009");
  }

  /** Tokens first in inputs and outputs, heads first where past and new keys are concatenated. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void transposesAtTheBorderCancel(int n) {
    SmallDecoder d = new SmallDecoder(n);
    d.attend(bordered(d, "key"), bordered(d, "value"), null).agrees();
    assertThat(d.state().graph().nodes())
        .extracting(node -> node.op().mnemonic())
        .doesNotContain("transpose");
  }

  private static Value bordered(SmallDecoder d, String what) {
    Value past =
        d.input("past_" + what, ElementType.F32, BATCH, SmallDecoder.PAST, HEADS, FEATURES);
    Movement.Transpose turn = new Movement.Transpose(List.of(0, 2, 1, 3));
    Value joined = d.graph.add(new Movement.Concat(2), d.graph.add(turn, past), d.fresh(what));
    d.graph.output("present_" + what, d.graph.add(turn, joined));
    return joined;
  }

  /** A cache with room for all tokens, which the model itself writes at a position. */
  @Test
  void cachesUpdatedByTheModelStay() {
    SmallDecoder d = new SmallDecoder(1);
    Value position = d.input("cache_position", ElementType.I64, BATCH);
    Value keys = updated(d, "key", position);
    Value values = updated(d, "value", position);
    Value count = d.binary(BinaryFunction.ADD, position, d.whole(1));
    Structured.Attention attention =
        new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, true);
    d.graph.output("y", d.graph.add(attention, d.fresh("query"), keys, values, count));
    Optional<Module.Room> room =
        Optional.of(new Module.Room(SmallDecoder.CAPACITY, OptionalLong.empty()));
    assertThat(d.state().states())
        .containsExactly(
            new Module.State("past_key", "present_key", room),
            new Module.State("past_value", "present_value", room));
    assertThat(d.state().graph().inputs())
        .extracting(Value::name)
        .contains("cache_position")
        .doesNotContain("position");
  }

  private static Value updated(SmallDecoder d, String what, Value position) {
    Dim room = Dim.of(SmallDecoder.CAPACITY);
    Value past = d.input("past_" + what, ElementType.F32, BATCH, HEADS, room, FEATURES);
    Value present =
        d.graph.add(new Structured.CacheUpdate(2, false), past, d.fresh(what), position);
    d.graph.output("present_" + what, present);
    return present;
  }

  @Test
  void mixedPastTokensAreRefused() {
    SmallDecoder d = new SmallDecoder(1);
    Dim[] shape = {BATCH, HEADS, SmallDecoder.PAST, FEATURES};
    Value keys = mixed(d, d.input("past_key", ElementType.F32, shape), "key");
    Value values = mixed(d, d.input("past_value", ElementType.F32, shape), "value");
    d.attend(keys, values, null);
    assertThatThrownBy(d::state)
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4009")
        .hasMessageContaining("a length of the past only in caches, masks and positions");
  }

  /** Tokens in the opposite order. */
  private static Value mixed(SmallDecoder d, Value past, String what) {
    Value joined = d.graph.add(new Movement.Concat(2), past, d.fresh(what));
    d.graph.output("present_" + what, joined);
    Value scaled = d.graph.add(new Elementwise.Binary(BinaryFunction.MUL), joined, d.real(2));
    return d.graph.add(new Reduction.Cumulative(false, 2, false, false), scaled);
  }
}
