package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.ElementRunTest.axes;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CallFormTest {
  private static CallForm of(String kernel, Argument... arguments) {
    return CallForm.of(new KernelCall(KernelTable.get(kernel), List.of(arguments), List.of()));
  }

  private static CallForm copy(String kernel, long from, long to) {
    return of(
        kernel,
        Argument.pointer("x", 0),
        Argument.pointer("out", 1),
        axes("extents", 5, 4),
        axes("x_strides", 4, from),
        axes("out_strides", 4, to));
  }

  private static CallForm add(long left, long right) {
    return of(
        "add_f32",
        Argument.pointer("left", 0),
        Argument.pointer("right", 1),
        Argument.pointer("out", 2),
        axes("extents", 5, 4),
        axes("left_strides", 4, left),
        axes("right_strides", 1, right));
  }

  private static CallForm product(String kernel, long rows, long depth) {
    return of(
        kernel,
        Argument.pointer("left", 0),
        Argument.pointer("right", 1),
        Argument.pointer("out", 2),
        Argument.integer("batch", 1),
        Argument.integer("m", rows),
        Argument.integer("n", 4),
        Argument.integer("k", depth));
  }

  @Test
  void aCopyOfContiguousLinesHasAFormOfItsOwn() {
    assertThat(copy("copy_32", 1, 1)).isEqualTo(CallForm.LINES);
    assertThat(copy("copy_8", 1, 1)).isEqualTo(CallForm.LINES);
    assertThat(copy("copy_32", 5, 1)).isEqualTo(CallForm.USUAL);
    assertThat(copy("copy_32", 1, 2)).isEqualTo(CallForm.USUAL);
    assertThat(CallForm.LINES.figures(KernelTable.get("copy_32"))).isEqualTo("copy_32_lines");
  }

  @Test
  void anOperandWithOneElementForEachLineHasAFormOfItsOwn() {
    assertThat(add(1, 1)).isEqualTo(CallForm.USUAL);
    assertThat(add(1, 0)).isEqualTo(CallForm.SPREAD);
    assertThat(add(0, 1)).isEqualTo(CallForm.SPREAD);
  }

  @Test
  void aProductOfBytesOverNoWholeWordsHasAFormOfItsOwn() {
    assertThat(product("gemm_i8_i8", 4, 64)).isEqualTo(CallForm.USUAL);
    assertThat(product("gemm_i8_i8", 4, 50)).isEqualTo(CallForm.ODD);
    assertThat(product("gemm_i32_i8", 4, 50)).isEqualTo(CallForm.USUAL);
    assertThat(product("gemm_f32", 4, 50)).isEqualTo(CallForm.USUAL);
  }

  @Test
  void productsOfTwoAndThreeRowsOfBytesHaveFormsOfTheirOwn() {
    assertThat(product("gemm_i8_i8", 1, 64)).isEqualTo(CallForm.USUAL);
    assertThat(product("gemm_i8_i8", 2, 64)).isEqualTo(CallForm.TWO_ROWS);
    assertThat(product("gemm_u8_i8", 3, 64)).isEqualTo(CallForm.THREE_ROWS);
    assertThat(product("gemm_i8_i8", 3, 50)).isEqualTo(CallForm.ODD);
    assertThat(product("gemm_f32", 3, 64)).isEqualTo(CallForm.USUAL);
  }

  private static CallForm requantize(long rows, long columns, long addend) {
    return of(
        "requantize_i32_i8",
        Argument.pointer("x", 0),
        Argument.pointer("multiplier", 1),
        Argument.pointer("addend", 1),
        Argument.pointer("out", 2),
        axes("extents", 5, 4),
        axes("multiplier_strides", rows, columns),
        axes("addend_strides", addend, 0));
  }

  @Test
  void aRequantizationWithOneScaleHasAFormOfItsOwn() {
    assertThat(requantize(0, 0, 0)).isEqualTo(CallForm.ONE_SCALE);
    assertThat(requantize(1, 0, 0)).isEqualTo(CallForm.USUAL);
    assertThat(requantize(0, 0, 1)).isEqualTo(CallForm.USUAL);
  }

  @Test
  void aRequantizationWithAMultiplierForEachColumnHasAFormOfItsOwn() {
    assertThat(requantize(0, 1, 0)).isEqualTo(CallForm.BY_COLUMNS);
    assertThat(requantize(0, 1, 1)).isEqualTo(CallForm.BY_COLUMNS);
  }
}
