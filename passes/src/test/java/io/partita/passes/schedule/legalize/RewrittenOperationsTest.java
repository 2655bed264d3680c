package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that operations without a kernel are rewritten to supported ones with equal bits. */
class RewrittenOperationsTest {
  private static TensorType f32(long... extents) {
    return TensorType.of(ElementType.F32, extents);
  }

  private static TensorType i64(long... extents) {
    return TensorType.of(ElementType.I64, extents);
  }

  /** Returns the first result of an operation on inputs of the types. */
  private static Legalized of(Op op, TensorType... types) {
    return of(Long.MAX_VALUE, op, types);
  }

  private static Legalized of(long workingBytes, Op op, TensorType... types) {
    return Legalized.of(
            workingBytes,
            graph -> {
              List<io.partita.ir.graph.Value> operands = new ArrayList<>();
              for (TensorType type : types) {
                operands.add(graph.input("x" + operands.size(), type));
              }
              return graph.addNode(op, operands).results().getLast();
            })
        .agrees();
  }

  private static Window window(List<Long> kernel, List<Long> strides, long low, long high) {
    List<Long> lows = kernel.stream().map(each -> low).toList();
    List<Long> highs = kernel.stream().map(each -> high).toList();
    return new Window(kernel, strides, strides, lows, highs);
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 0", "2, 1, 1", "1, 1, 0", "3, 0, 1"})
  void convolutionsOfThreeDimensionsBecomeTwoDimensional(int groups, long low, long high) {
    Window window = window(List.of(2L, 3L, 2L), List.of(2L, 1L, 2L), low, high);
    Contraction.Convolution convolution =
        new Contraction.Convolution(window, groups, true, ElementType.F32);
    Legalized legalized =
        of(
            convolution,
            f32(2, 2L * groups, 6, 5, 7),
            f32(3L * groups, 2, 2, 3, 2),
            f32(3L * groups));
    assertThat(legalized.operations()).containsOnlyOnce("convolution");
  }

  @Test
  void convolutionsOfTwoDimensionsStay() {
    Window window = window(List.of(2L, 3L), List.of(2L, 1L), 1, 0);
    Contraction.Convolution convolution =
        new Contraction.Convolution(window, 1, false, ElementType.F32);
    assertThat(of(convolution, f32(2, 2, 6, 5), f32(3, 2, 2, 3)).operations())
        .containsExactly("convolution");
  }

  @ParameterizedTest
  @CsvSource({
    "true, false, false, 0",
    "true, true, false, 1",
    "false, false, false, 0",
    "false, true, true, 1",
    "false, true, false, 1"
  })
  void poolsOfThreeDimensionsBecomeTwoPools(
      boolean largest, boolean roundUp, boolean countPadding, long padding) {
    // Windows of 2 in a row: the means are sums of halves, and exact.
    Window window = window(List.of(2L, 2L, 2L), List.of(2L, 1L, 2L), padding, 0);
    Contraction.Pool pool = new Contraction.Pool(largest, window, roundUp, countPadding, false);
    Legalized legalized = of(pool, f32(2, 3, 6, 5, 7));
    assertThat(legalized.operations()).filteredOn(each -> each.endsWith("pool")).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 0, 0", "1, 2, 0, 0", "2, 3, 1, 1", "3, 2, 0, -1", "1, 2, 3, 2"})
  void transposedConvolutionsBecomeConvolutions(int groups, long stride, long low, long high) {
    Window window =
        new Window(
            List.of(3L, 2L),
            List.of(stride, 1L),
            List.of(1L, 2L),
            List.of(low, 0L),
            List.of(high, 1L));
    Legalized legalized =
        of(
            new Contraction.TransposedConvolution(window, groups, true),
            f32(2, 2L * groups, 4, 5),
            f32(2L * groups, 3, 3, 2),
            f32(3L * groups));
    assertThat(legalized.operations())
        .contains("convolution")
        .doesNotContain("transposed_convolution");
  }

  @ParameterizedTest
  @EnumSource(names = "CONSTANT", mode = EnumSource.Mode.EXCLUDE)
  void repeatingPadsBecomeConcatenations(PadMode mode) {
    Movement.Pad pad = new Movement.Pad(mode, List.of(2L, -1L, 7L), List.of(1L, 3L, 0L));
    assertThat(of(pad, f32(3, 4, 1)).operations()).contains("concat").doesNotContain("pad");
    of(pad, f32(3, 4, 3));
    of(new Movement.Pad(mode, List.of(9L), List.of(12L)), f32(4));
  }

  @Test
  void valuesWithoutOperandsAreConstants() {
    for (ReductionKind kind :
        List.of(ReductionKind.SUM, ReductionKind.MAX, ReductionKind.PRODUCT)) {
      Reduction.Reduce reduce = new Reduction.Reduce(kind, List.of(1), false);
      assertThat(of(reduce, f32(2, 0, 3)).operations()).isEmpty();
    }
    Contraction.MatMul product = new Contraction.MatMul(ElementType.F32);
    assertThat(of(product, f32(3, 0), f32(0, 4)).operations()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"I4", "U4"})
  void nibblesAreUnpacked(ElementType nibble) {
    TensorType type = TensorType.of(nibble, 3, 5);
    String bytes = "cast";
    assertThat(of(new Elementwise.Cast(ElementType.F32), type).operations())
        .containsExactly(bytes, bytes);
    assertThat(of(new Elementwise.Cast(nibble), f32(7)).operations()).containsExactly(bytes, bytes);
    assertThat(of(new Movement.Transpose(List.of(1, 0)), type).operations())
        .containsExactly(bytes, "transpose", bytes);
    of(new Elementwise.Binary(BinaryFunction.ADD), type, type);
    TensorType scale = TensorType.of(ElementType.F32);
    of(new Quantized.Dequantize(0, 0, ElementType.F32), type, scale, TensorType.of(nibble));
  }

  @ParameterizedTest
  @EnumSource
  void rowsOfTuplesAreScattered(Combine reduction) {
    Movement.ScatterNd scatter = new Movement.ScatterNd(reduction);
    of(scatter, f32(8, 8, 3), i64(5, 2), f32(5, 3));
    of(scatter, f32(8, 3), TensorType.of(ElementType.I32, 2, 2, 1), f32(2, 2, 3));
    of(scatter, f32(8, 8), i64(5, 2), f32(5));
    TensorType bytes = TensorType.of(ElementType.I8, 8, 3);
    assertThat(of(scatter, bytes, i64(4, 1), TensorType.of(ElementType.I8, 4, 3)).operations())
        .contains("scatter_nd");
  }

  @ParameterizedTest
  @EnumSource
  void elementsAreScatteredAlongWholeAxes(Combine reduction) {
    Movement.ScatterElements scatter = new Movement.ScatterElements(1, reduction);
    assertThat(of(scatter, f32(4, 8, 5), i64(4, 9, 5), f32(4, 9, 5)).operations())
        .containsExactly("scatter_elements");
    TensorType indices = TensorType.of(ElementType.I32, 2, 9, 3);
    assertThat(of(scatter, f32(4, 8, 5), indices, f32(2, 9, 3)).operations())
        .contains("scatter_elements", "concat");
    TensorType halves = TensorType.of(ElementType.U16, 4, 8);
    of(scatter, halves, i64(4, 2), TensorType.of(ElementType.U16, 4, 2));
  }

  @Test
  void elementsAreGatheredAlongWholeAxes() {
    Movement.GatherElements gather = new Movement.GatherElements(1);
    assertThat(of(gather, f32(4, 8, 5), i64(4, 9, 5)).operations())
        .containsExactly("gather_elements");
    TensorType indices = TensorType.of(ElementType.I32, 2, 9, 3);
    assertThat(of(gather, f32(4, 8, 5), indices).operations())
        .containsSubsequence("slice", "gather_elements");
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I16", "U16", "U32", "I32", "I64", "U64"})
  void integersAreWidenedToTheKernels(ElementType element) {
    TensorType type = TensorType.of(element, 3, 8);
    for (BinaryFunction function : BinaryFunction.values()) {
      if (!function.isLogical()) {
        of(new Elementwise.Binary(function), type, type);
      }
    }
    for (UnaryFunction function : List.of(UnaryFunction.NEG, UnaryFunction.SIGN)) {
      of(new Elementwise.Unary(function), type);
    }
    of(new Reduction.TopK(3, 1, true), type);
    of(new Reduction.ArgReduce(true, 1, false, true), type);
    of(new Reduction.Cumulative(true, 1, true, false), type);
    of(new Reduction.Reduce(ReductionKind.MEAN, List.of(1), false), type);
    TensorType exponent = f32(8);
    of(new Elementwise.Binary(BinaryFunction.POW), type, exponent);
    of(new Elementwise.Binary(BinaryFunction.POW), exponent, type);
    of(new Elementwise.Binary(BinaryFunction.POW), type, i64(8));
  }

  /** Tests lines of at least 100 elements with room for 64 bytes. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void longLinesAreReducedInParts(int axis) {
    TensorType x = f32(axis == 0 ? 101 : 2, axis == 1 ? 101 : 3, axis == 2 ? 101 : 2);
    for (ReductionKind kind : List.of(ReductionKind.SUM, ReductionKind.MAX, ReductionKind.MIN)) {
      Reduction.Reduce reduce = new Reduction.Reduce(kind, List.of(axis), false);
      assertThat(of(64, reduce, x).operations()).contains("concat");
      assertThat(of(4096, reduce, x).operations()).containsExactly(reduce.mnemonic());
      TensorType bytes = x.with(ElementType.I8);
      of(64, reduce, bytes);
    }
    of(64, new Reduction.Reduce(ReductionKind.SUM, List.of(0, 1, 2), true), x);
    of(64, new Reduction.Reduce(ReductionKind.MEAN, List.of(axis), true), x.with(ElementType.I32));
    for (boolean flag : new boolean[] {false, true}) {
      assertThat(of(64, new Reduction.ArgReduce(flag, axis, flag, !flag), x).operations())
          .contains("concat", "gather_elements");
      of(64, new Reduction.ArgReduce(flag, axis, flag, flag), x);
      of(1000, new Reduction.TopK(5, axis, flag), x);
      of(64, new Reduction.Cumulative(false, axis, flag, !flag), x);
      of(64, new Reduction.Cumulative(false, axis, flag, flag), x.with(ElementType.I64));
    }
  }

  @Test
  void longTablesAreGatheredInParts() {
    TensorType table = f32(2, 8, 3);
    assertThat(of(32, new Movement.Gather(1), table, i64(5, 2)).operations()).contains("select");
    assertThat(of(32, new Movement.GatherElements(1), table, i64(2, 9, 3)).operations())
        .contains("select");
    assertThat(of(4096, new Movement.Gather(1), table, i64(5, 2)).operations())
        .containsExactly("gather");
  }
}
