package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.op.Contraction.NibbleMatMul;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NibbleMatMulKernelTest {
  private final Random random = new Random(4);

  /** A matrix of all integers, in an order that differs between its columns. */
  private int[][] matrix(int rows, int columns) {
    int[][] matrix = new int[rows][columns];
    for (int[] row : matrix) {
      for (int column = 0; column < columns; column++) {
        row[column] = random.nextInt(-8, 8);
      }
    }
    return matrix;
  }

  @ParameterizedTest
  @CsvSource({"1,8,8,8", "3,48,13,16", "2,24,24,8", "5,320,40,64"})
  void sumsOfGroupsAreScaledInOrder(int lines, int rows, int columns, int group) {
    int[][] weights = matrix(rows, columns);
    byte[] codes = NibblePanels.pack((row, column) -> weights[row][column], rows, columns, group);
    int panels = Math.ceilDiv(columns, 8);
    int groups = rows / group;
    long[] x = random.longs((long) lines * rows, -128, 128).toArray();
    float[] scales = new float[panels * groups * 8];
    for (int i = 0; i < scales.length; i++) {
      scales[i] = random.nextFloat();
    }
    float[] found =
        Evaluated.of(
                new NibbleMatMul(),
                Tensor.ofLongs(TensorType.of(ElementType.I8, lines, rows), x),
                Tensor.of(
                    TensorType.of(ElementType.U8, panels, groups, 4L * group),
                    MemorySegment.ofArray(codes)),
                Tensor.floats(Shape.of(panels, groups, 8), scales))
            .floats();
    for (int line = 0; line < lines; line++) {
      for (int column = 0; column < columns; column++) {
        float expected = 0;
        for (int first = 0; first < rows; first += group) {
          int sum = 0;
          for (int row = first; row < first + group; row++) {
            sum += (int) x[line * rows + row] * weights[row][column];
          }
          expected += sum * scales[(column / 8 * groups + first / group) * 8 + column % 8];
        }
        assertThat(found[line * panels * 8 + column]).isEqualTo(expected);
      }
    }
  }

  @Test
  void groupsHaveAMultipleOfEightRows() {
    assertThat(NibblePanels.isGroup(8)).isTrue();
    assertThat(NibblePanels.isGroup(8192)).isTrue();
    assertThat(NibblePanels.isGroup(8200)).isFalse();
    assertThat(NibblePanels.isGroup(12)).isFalse();
    assertThatThrownBy(
            () ->
                Evaluated.of(
                    new NibbleMatMul(),
                    Tensor.filled(TensorType.of(ElementType.I8, 4), 0),
                    Tensor.filled(TensorType.of(ElementType.U8, 1, 1, 16), 0),
                    Tensor.filled(TensorType.of(ElementType.F32, 1, 1, 8), 0)))
        .isInstanceOf(TypeMismatch.class)
        .hasMessageContaining("groups of a multiple of 8 rows");
  }
}
