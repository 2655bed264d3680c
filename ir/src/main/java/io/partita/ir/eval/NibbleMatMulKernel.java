package io.partita.ir.eval;

import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** The product of bytes with a matrix of 4-bit integers in groups. */
final class NibbleMatMulKernel {
  private NibbleMatMulKernel() {}

  static Tensor evaluate(List<Tensor> operands, TensorType type) {
    long[] x = operands.get(0).longs();
    Tensor stored = operands.get(1);
    byte[] codes = stored.bytes().toArray(ValueLayout.JAVA_BYTE);
    double[] scales = operands.get(2).doubles();
    int panels = (int) stored.shape().extent(0);
    int groups = (int) stored.shape().extent(1);
    int bytes = (int) stored.shape().extent(2);
    int rows = (int) NibblePanels.rows(bytes);
    int columns = panels * NibblePanels.COLUMNS;
    float[] out = new float[(int) type.shape().elements()];
    int lines = columns == 0 ? 0 : out.length / columns;
    ParallelTasks.run(
        panels,
        (long) out.length * groups * rows,
        panel -> {
          int[] weights = new int[rows * NibblePanels.COLUMNS];
          for (int group = 0; group < groups; group++) {
            int part = panel * groups + group;
            unpack(codes, part * bytes, weights);
            for (int line = 0; line < lines; line++) {
              int from = (line * groups + group) * rows;
              int to = line * columns + panel * NibblePanels.COLUMNS;
              for (int column = 0; column < NibblePanels.COLUMNS; column++) {
                int sum = 0;
                for (int row = 0; row < rows; row++) {
                  sum += (int) x[from + row] * weights[row * NibblePanels.COLUMNS + column];
                }
                out[to + column] += sum * (float) scales[part * NibblePanels.COLUMNS + column];
              }
            }
          }
        });
    return Tensor.of(type, out);
  }

  private static void unpack(byte[] codes, int from, int[] weights) {
    for (int i = 0; i < weights.length; i++) {
      weights[i] = NibblePanels.at(codes, from, i / NibblePanels.COLUMNS, i % NibblePanels.COLUMNS);
    }
  }
}
