package io.partita.passes.schedule.tile;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetLibrary;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests what runs of functions of elements are priced by. */
class CallUnitTest {
  private static final ChipKind CHIP = TargetLibrary.find("siracusa:chips=1").devices().getFirst();

  /** Load and store, 1 each. */
  private static final long MOVES = 2;

  /** The columns of the tile. */
  private static final long COLUMNS = 12;

  private static Argument axes(String field, long unused, long... last) {
    return integers(
        field,
        Stream.concat(
                Collections.nCopies(KernelStruct.AXES - last.length, unused).stream(),
                LongStream.of(last).boxed())
            .map(TileExpression::of)
            .toList());
  }

  /** A call on 5 lines, with the strides of the right operand. */
  private static KernelCall binary(String kernel, long... strides) {
    return binary(kernel, 2, strides);
  }

  private static KernelCall binary(String kernel, int right, long[] strides) {
    return new KernelCall(
        KernelTable.get(kernel),
        List.of(
            pointer("left", 1),
            pointer("right", right),
            pointer("out", 1),
            axes("extents", 1, 5, COLUMNS),
            axes("left_strides", 0, COLUMNS, 1),
            axes("right_strides", 0, strides)),
        List.of());
  }

  private static KernelCall cast(String kernel) {
    return cast(kernel, pointer("out", 1));
  }

  private static KernelCall cast(String kernel, Argument out) {
    return new KernelCall(
        KernelTable.get(kernel),
        List.of(pointer("x", 0), out, integer("count", 5 * COLUMNS)),
        List.of());
  }

  private static List<String> figures(ChipKind chip, KernelCall... calls) {
    return CallUnit.of(List.of(calls), chip).stream().map(CallUnit::figures).toList();
  }

  private static TileExpression depth(KernelCall... calls) {
    List<CallUnit> units = CallUnit.of(List.of(calls), CHIP);
    assertThat(units).hasSize(1);
    return units.getFirst().work().getLast();
  }

  @Test
  void runsOfFloatsHaveFiguresOfTheirOwn() {
    assertThat(figures(CHIP, cast("cast_i32_f32"), binary("mul_f32", 0, 1)))
        .containsExactly("element_run_grouped");
    assertThat(figures(CHIP, cast("cast_i8_i32"), binary("mul_i32", 0, 1)))
        .containsExactly("element_run");
  }

  @Test
  void aFunctionOfFloatsCountsTwice() {
    assertThat(depth(cast("cast_i32_f32"), binary("mul_f32", 0, 0)))
        .isEqualTo(TileExpression.of(MOVES + 2 + 2));
  }

  @Test
  void anOperandCountsTwiceUnlessItIsAScalarOrTheValues() {
    assertThat(depth(cast("cast_i32_f32"), binary("mul_f32", 0, 1), binary("add_f32", COLUMNS, 1)))
        .isEqualTo(TileExpression.of(MOVES + 2 + (2 + 2) + (2 + 2)));
    KernelCall square = binary("mul_f32", 1, new long[] {COLUMNS, 1});
    assertThat(depth(cast("cast_i32_f32"), square)).isEqualTo(TileExpression.of(MOVES + 2 + 2));
  }

  @Test
  void aQuantizationCountsNineTimes() {
    KernelCall quantize =
        new KernelCall(
            KernelTable.get("quantize_f32_i8"),
            List.of(
                scratch("x", 0),
                pointer("scale", 2),
                pointer("zero", 3),
                pointer("out", 1),
                axes("extents", 1, 5, COLUMNS),
                axes("parameter_strides", 0, 0, 0)),
            List.of());
    KernelCall cast = cast("cast_i32_f32", scratch("out", 0));
    assertThat(depth(cast, quantize)).isEqualTo(TileExpression.of(MOVES + 2 + 9));
  }

  @Test
  void functionsOfIntegersCountOnceLoadAndStoreThreeTimes() {
    assertThat(depth(cast("cast_i8_i32"), binary("mul_i32", 0, 1)))
        .isEqualTo(TileExpression.of(3 + 1 + 1));
  }

  @Test
  void withoutFiguresEachCallIsPricedByItself() {
    ChipKind plain = TargetLibrary.find("n150").devices().getFirst();
    assertThat(figures(plain, cast("cast_i32_f32"), binary("mul_f32", 0, 1)))
        .containsExactly("cast_i32_f32", "mul_f32");
  }
}
