package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ElementRunTest {
  private static final int X = 0;
  private static final int OTHER = 1;
  private static final int OUT = 2;

  /** The integers of all axes, of which the last are given. */
  static Argument axes(String field, long... last) {
    List<TileExpression> values = new ArrayList<>();
    for (int i = last.length; i < KernelStruct.AXES; i++) {
      values.add(TileExpression.of(field.equals("extents") ? 1 : 0));
    }
    for (long each : last) {
      values.add(TileExpression.of(each));
    }
    return integers(field, values);
  }

  private static Argument at(String field, Argument place) {
    return new Argument(field, place.value());
  }

  private static Argument tile(int operand) {
    return pointer("", operand);
  }

  /** A call on 5 x 4 elements, with the strides of the right operand. */
  private static KernelCall binary(
      String kernel,
      Argument left,
      Argument right,
      Argument out,
      List<Integer> onLast,
      long... strides) {
    return new KernelCall(
        KernelTable.get(kernel),
        List.of(
            at("left", left),
            at("right", right),
            at("out", out),
            axes("extents", 5, 4),
            axes("left_strides", 4, 1),
            axes("right_strides", strides)),
        onLast);
  }

  private static KernelCall requantize(String types, Argument x, Argument out, long... strides) {
    return new KernelCall(
        KernelTable.get("requantize_" + types),
        List.of(
            at("x", x),
            pointer("multiplier", OTHER),
            pointer("addend", OTHER),
            at("out", out),
            axes("extents", 5, 4),
            axes("multiplier_strides", strides),
            axes("addend_strides", 0, 0),
            integer("low", -128),
            integer("high", 127),
            integer("shift", 3)),
        List.of());
  }

  private static List<String> runs(KernelCall... calls) {
    return ElementRun.of(List.of(calls)).stream()
        .map(run -> run.first() + "-" + (run.end() - 1))
        .toList();
  }

  private static KernelCall add(Argument left, Argument out, long... strides) {
    return binary("add_i32", left, tile(OTHER), out, List.of(), strides);
  }

  @Test
  void callsThatFollowEachOtherAreOneRun() {
    assertThat(
            runs(
                requantize("i8_i32", tile(X), scratch("", 0), 0, 0),
                add(scratch("", 0), scratch("", 0), 4, 1),
                requantize("i32_i8", scratch("", 0), tile(OUT), 0, 0)))
        .containsExactly("0-2");
  }

  @Test
  void operandsMayBeScalarsRowsOrTiles() {
    ElementRun run =
        ElementRun.of(
                List.of(
                    add(tile(X), tile(OUT), 0, 0),
                    add(tile(OUT), tile(OUT), 0, 1),
                    add(tile(OUT), tile(OUT), 4, 1)))
            .getFirst();
    assertThat(run.steps())
        .extracting(step -> step.operands().getFirst().period())
        .containsExactly(Optional.of(1L), Optional.of(4L), Optional.empty());
  }

  private static KernelCall sum(long columns, long... strides) {
    return new KernelCall(
        KernelTable.get("add_i32"),
        List.of(
            at("left", tile(X)),
            at("right", tile(OTHER)),
            at("out", tile(OUT)),
            axes("extents", 5, columns),
            axes("left_strides", columns, 1),
            axes("right_strides", strides)),
        List.of());
  }

  @Test
  void singleSumsOfManyWordsAreInNoRun() {
    assertThat(runs(sum(204, 204, 1))).containsExactly("0-0");
    assertThat(runs(sum(205, 205, 1))).isEmpty();
    assertThat(runs(sum(205, 0, 0))).containsExactly("0-0");
  }

  @Test
  void columnsAndSingleFloatsAreInNoRun() {
    assertThat(runs(add(tile(X), tile(OUT), 1, 0))).isEmpty();
    assertThat(runs(requantize("i32_i8", tile(X), tile(OUT), 1, 0))).isEmpty();
    assertThat(runs(binary("add_f32", tile(X), tile(OTHER), tile(OUT), List.of(), 4, 1))).isEmpty();
  }

  @Test
  void floatsFollowEachOtherAndConversions() {
    KernelCall cast =
        new KernelCall(
            KernelTable.get("cast_i32_f32"),
            List.of(at("x", tile(X)), at("out", tile(OUT)), integer("count", 20)),
            List.of());
    KernelCall scale = binary("mul_f32", tile(OUT), tile(OTHER), tile(OUT), List.of(), 0, 1);
    KernelCall sum = binary("add_f32", tile(OUT), tile(OTHER), tile(OUT), List.of(), 4, 1);
    KernelCall least = binary("min_f32", tile(OUT), tile(OTHER), tile(OUT), List.of(), 4, 1);
    assertThat(runs(cast, scale, sum, least)).containsExactly("0-2");
    assertThat(runs(cast, least)).isEmpty();
  }

  private static KernelCall quantize(Argument x, Argument out, long... strides) {
    return new KernelCall(
        KernelTable.get("quantize_f32_i8"),
        List.of(
            at("x", x),
            pointer("scale", OTHER),
            pointer("zero", OTHER),
            at("out", out),
            axes("extents", 5, 4),
            axes("parameter_strides", strides)),
        List.of());
  }

  @Test
  void quantizationsWithOneScaleEndRunsOfFloats() {
    KernelCall sum = binary("add_f32", tile(X), tile(OTHER), scratch("", 0), List.of(), 4, 1);
    KernelCall one = quantize(scratch("", 0), tile(OUT), 0, 0);
    KernelCall after = requantize("i8_i8", tile(OUT), tile(OUT), 0, 0);
    assertThat(runs(sum, one, after)).containsExactly("0-1", "2-2");
    assertThat(ElementRun.of(List.of(sum, one)).getFirst().isGrouped()).isTrue();
    assertThat(runs(one)).isEmpty();
    assertThat(runs(sum, quantize(scratch("", 0), tile(OUT), 0, 1))).isEmpty();
  }

  /** Requantizations have scales of their own, and products sums. */
  @Test
  void quantizationsFollowOnlyStoredFloats() {
    KernelCall wide = requantize("i8_i32", tile(X), scratch("", 0), 0, 0);
    KernelCall cast =
        new KernelCall(
            KernelTable.get("cast_i32_f32"),
            List.of(at("x", scratch("", 0)), at("out", scratch("", 0)), integer("count", 20)),
            List.of());
    KernelCall quantized = quantize(scratch("", 0), tile(OUT), 0, 0);
    assertThat(runs(wide, cast, quantized)).containsExactly("0-1");
    assertThat(runs(cast, quantized)).containsExactly("0-1");
  }

  /** The first call's results would be needed in memory. */
  @Test
  void runsEndWhereOthersReadTheValues() {
    KernelCall first = requantize("i8_i32", tile(X), scratch("", 0), 0, 0);
    KernelCall second = requantize("i32_i8", scratch("", 0), tile(OUT), 0, 0);
    assertThat(runs(first, second)).containsExactly("0-1");
    KernelCall later = binary("add_i32", tile(X), scratch("", 0), tile(X), List.of(), 4, 1);
    assertThat(runs(first, second, later)).containsExactly("0-0", "1-1", "2-2");
  }

  /** A kernel leaves its results to the run, and computes others in the next tile. */
  @Test
  void runsMayOverwriteTheResultsThatTheyBeginWith() {
    KernelCall least = binary("min_f32", tile(X), tile(OTHER), scratch("", 0), List.of(), 4, 1);
    KernelCall sum =
        binary("add_f32", scratch("", 0), tile(OTHER), scratch("", 0), List.of(), 4, 1);
    KernelCall quantized = quantize(scratch("", 0), tile(OUT), 0, 0);
    assertThat(runs(least, sum, quantized)).containsExactly("1-2");
    KernelCall before =
        binary("min_f32", scratch("", 0), tile(OTHER), scratch("", 0), List.of(), 4, 1);
    assertThat(runs(before, sum, quantized)).isEmpty();
  }

  /** Bytes wait in the tile of the result until the run overwrites them. */
  @Test
  void runsGoOnFromWhatTheyOverwriteAtLast() {
    KernelCall first = requantize("i32_i8", tile(X), tile(OUT), 0, 0);
    KernelCall wide = requantize("i8_i32", tile(OUT), scratch("", 0), 0, 0);
    KernelCall sum = add(scratch("", 0), scratch("", 0), 4, 1);
    KernelCall last = requantize("i32_i8", scratch("", 0), tile(OUT), 0, 0);
    assertThat(runs(first, wide, sum, last)).containsExactly("0-3");
    assertThat(runs(first, wide, sum)).as("bytes that stay").containsExactly("0-0", "1-2");
    KernelCall elsewhere = requantize("i32_i8", scratch("", 0), tile(OTHER), 0, 0);
    assertThat(runs(first, wide, elsewhere)).containsExactly("0-0", "1-2");
  }

  @Test
  void runsEndWhereACallReadsWhatTheyHaveWritten() {
    KernelCall first = add(tile(X), tile(OUT), 0, 0);
    KernelCall row = binary("mul_i32", tile(OUT), tile(OUT), tile(OUT), List.of(), 0, 1);
    assertThat(runs(first, row)).containsExactly("0-0");
    KernelCall square = binary("mul_i32", tile(OUT), tile(OUT), tile(OUT), List.of(), 4, 1);
    assertThat(runs(first, square)).containsExactly("0-1");
    assertThat(ElementRun.of(List.of(first, square)).getFirst().steps().getLast().operands())
        .extracting(ElementRun.Operand::isValues)
        .containsExactly(true);
  }

  @Test
  void callsInOtherTilesEndARun() {
    KernelCall inLast = binary("mul_i32", tile(OUT), tile(OTHER), tile(OUT), List.of(1), 4, 1);
    assertThat(runs(add(tile(X), tile(OUT), 4, 1), inLast)).containsExactly("0-0", "1-1");
  }

  private static KernelCall product(long depth, Argument bias, TileExpression accumulate) {
    return new KernelCall(
        KernelTable.get("gemm_i8_i8"),
        List.of(
            pointer("left", X),
            pointer("right", OTHER),
            at("bias", bias),
            pointer("out", OUT),
            integer("batch", 1),
            integer("group", 1),
            integer("m", 5),
            integer("n", 4),
            integer("k", depth),
            integer("accumulate", accumulate),
            integer("left_row", depth),
            integer("left_column", 1),
            integer("right_row", 4),
            integer("right_column", 1),
            integer("out_row", 4)),
        List.of());
  }

  @Test
  void smallProductsBeginARun() {
    KernelCall after = add(tile(OUT), tile(OUT), 0, 0);
    TileExpression no = TileExpression.of(0);
    assertThat(runs(product(102, none(""), no), after)).containsExactly("0-1");
    assertThat(runs(product(103, none(""), no), after)).containsExactly("1-1");
    assertThat(runs(product(3, tile(OTHER), no), after)).containsExactly("1-1");
    assertThat(runs(product(3, none(""), TileExpression.start(0)), after)).containsExactly("1-1");
  }
}
