package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.op.Contraction;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The expected values are PyTorch's. */
class ConvolutionKernelsTest {
  private static Tensor counted(ElementType element, double from, long... extents) {
    double[] values = new double[(int) Shape.of(extents).elements()];
    java.util.Arrays.setAll(values, i -> from + i);
    return Tensor.ofDoubles(TensorType.of(element, extents), values);
  }

  @ParameterizedTest
  @EnumSource(names = {"F64", "F32", "F16", "I32", "I64"})
  void convolvesInGroupsWithDilation(ElementType element) {
    Window window =
        new Window(
            List.of(2L, 3L), List.of(1L, 2L), List.of(2L, 1L), List.of(1L, 2L), List.of(0L, 1L));
    Tensor result =
        Evaluated.of(
            new Contraction.Convolution(window, 2, true, element),
            counted(element, 0, 1, 2, 4, 5),
            counted(element, -10, 4, 1, 2, 3),
            counted(element, 1, 4));
    double[] expected = {
      -24, -105, -141, -49, -220, -310, -114, -445, -535, 7, 4, 4, 12, -3, -21, 7, -48, -66, 178,
      473, 509, 293, 754, 808, 348, 889, 943, 329, 942, 1014, 594, 1691, 1817, 709, 2006, 2132
    };
    assertThat(result).isEqualTo(Tensor.ofDoubles(TensorType.of(element, 1, 4, 3, 3), expected));
  }

  @Test
  void transposedConvolutionsSpread() {
    Window window =
        new Window(
            List.of(3L, 2L), List.of(2L, 2L), List.of(1L, 1L), List.of(1L, 1L), List.of(0L, 1L));
    Tensor result =
        Evaluated.of(
            new Contraction.TransposedConvolution(window, 2, true),
            counted(ElementType.F32, 0, 1, 2, 2, 2),
            counted(ElementType.F32, -4, 2, 1, 3, 2),
            counted(ElementType.F32, 1, 2));
    assertThat(result)
        .isEqualTo(
            Tensor.floats(
                Shape.of(1, 2, 4, 2),
                1,
                -1,
                -5,
                -11,
                -1,
                -5,
                3,
                1,
                22,
                22,
                48,
                46,
                32,
                30,
                44,
                44));
  }

  private static Window line(long kernel, long stride, long dilation, long padding) {
    return new Window(
        List.of(kernel), List.of(stride), List.of(dilation), List.of(padding), List.of(padding));
  }

  private static final Tensor LINE = Tensor.floats(Shape.of(1, 1, 8), 3, 1, 4, 1, 5, 9, 2, 6);

  /** SAME padding allows windows of any size. */
  @Test
  void poolsUnderWindowsFarLargerThanTheData() {
    Window window =
        new Window(
            List.of(3_000_000_000L, 2L),
            List.of(1L, 1L),
            List.of(1L, 1L),
            List.of(1_500_000_000L, 0L),
            List.of(1_499_999_999L, 0L));
    Tensor data = counted(ElementType.F64, 0, 1, 1, 2, 3);
    TensorType type = TensorType.of(ElementType.F64, 1, 1, 2, 2);
    assertThat(Evaluated.of(new Contraction.Pool(true, window, false, false, false), data))
        .isEqualTo(Tensor.ofDoubles(type, new double[] {4, 5, 4, 5}));
    assertThat(Evaluated.of(new Contraction.Pool(false, window, false, false, false), data))
        .isEqualTo(Tensor.ofDoubles(type, new double[] {2, 3, 2, 3}));
    assertThat(Evaluated.of(new Contraction.Pool(false, window, false, true, false), data))
        .isEqualTo(Tensor.ofDoubles(type, new double[] {8 / 6e9, 12 / 6e9, 8 / 6e9, 12 / 6e9}));
  }

  @Test
  void poolsTheLargest() {
    List<Tensor> rounded =
        OpEvaluator.evaluate(
            new Contraction.Pool(true, line(3, 3, 1, 1), true, false, true), List.of(LINE));
    assertThat(rounded.get(0).floats()).containsExactly(3, 5, 9);
    assertThat(rounded.get(1).longs()).containsExactly(0, 4, 5);
    Contraction.Pool dilated = new Contraction.Pool(true, line(3, 1, 2, 0), false, false, false);
    assertThat(Evaluated.of(dilated, LINE).floats()).containsExactly(5, 9, 5, 9);
    Tensor bytes = Tensor.ofLongs(TensorType.of(ElementType.I8, 1, 1, 3), new long[] {-5, -7, -6});
    assertThat(
            Evaluated.of(new Contraction.Pool(true, line(2, 1, 1, 1), false, false, false), bytes)
                .longs())
        .containsExactly(-5, -5, -6, -6);
  }

  @Test
  void meansCountPaddingButNotOverhang() {
    assertThat(mean(line(3, 3, 1, 1), true)).containsExactly(4f / 3, 10f / 3, 17f / 3);
    assertThat(mean(line(3, 3, 1, 1), false)).containsExactly(2, 10f / 3, 17f / 3);
    assertThat(mean(line(3, 2, 1, 1), true)).containsExactly(4f / 3, 2, 5, 17f / 3, 3);
  }

  private static float[] mean(Window window, boolean countPadding) {
    return Evaluated.of(new Contraction.Pool(false, window, true, countPadding, false), LINE)
        .floats();
  }
}
