package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.Shape;

/**
 * Products with 4-bit integers in groups: a group of some panels is unpacked to floats, whose sums
 * of products with bytes are exact, so that C2 vectorises them.
 */
final class NibbleMatMulCode {
  /** The panels that are unpacked together. */
  private static final int PANELS = 32;

  private static final Kernel UNPACK =
      Kernel.of(
          "The integers of a group of panels, by row.",
          """
          static void unpackNibbles(byte[] codes, int first, int panels, int groups, int group, int rows, float[] weights) {
            for (int panel = 0; panel < panels; panel++) {
              int at = ((first + panel) * groups + group) * rows * 4;
              for (int i = 0; i < rows * 4; i++) {
                int code = codes[at + i];
                int row = i / 16 * 4 + i % 4;
                int to = (row * panels + panel) * 8 + i / 4 % 4 * 2;
                weights[to] = (code & 15) - 8;
                weights[to + 1] = code >> 4;
              }
            }
          }
          """);

  private static final Kernel ADD_MULTIPLE =
      Kernel.of(
          "sums += x * weights.",
          """
          static void addMultiple(float[] sums, float x, float[] weights, int from, int size) {
            for (int i = 0; i < size; i++) {
              sums[i] += x * weights[from + i];
            }
          }
          """);

  private static final Kernel NIBBLE_MATMUL =
      Kernel.of(
          "out = x w, where each group of rows of a column of w has a scale.",
          """
          static void nibbleMatMul(float[] x, int lines, int groups, int rows, byte[] codes, int panels, float[] scales, int together, float[] weights, float[] sums, float[] out) {
            Arrays.fill(out, 0, lines * panels * 8, 0);
            for (int first = 0; first < panels; first += together) {
              int count = Math.min(together, panels - first);
              for (int group = 0; group < groups; group++) {
                unpackNibbles(codes, first, count, groups, group, rows, weights);
                for (int line = 0; line < lines; line++) {
                  Arrays.fill(sums, 0, count * 8, 0);
                  for (int row = 0; row < rows; row++) {
                    addMultiple(sums, x[(line * groups + group) * rows + row], weights, row * count * 8, count * 8);
                  }
                  int to = (line * panels + first) * 8;
                  for (int i = 0; i < count * 8; i++) {
                    out[to + i] += sums[i] * scales[((first + i / 8) * groups + group) * 8 + i % 8];
                  }
                }
              }
            }
          }
          """,
          UNPACK,
          ADD_MULTIPLE);

  private NibbleMatMulCode() {}

  static void emit(StepCode code) {
    long count = code.resultType().shape().elements();
    if (count == 0) {
      return;
    }
    Shape codes = code.shape(1);
    long panels = codes.extent(0);
    long rows = NibblePanels.rows(codes.extent(2));
    long inputs = code.shape(0).elements();
    long together = Math.min(panels, PANELS);
    String x = code.scratch.take(Storage.FLOATS, inputs);
    code.body.open(LoopNest.loop("i", inputs));
    code.body.line(x + "[i] = " + code.load(0, "i"));
    code.body.close();
    String scales = code.real(2);
    code.body.line(
        code.call(
            NIBBLE_MATMUL,
            x,
            count / panels / NibblePanels.COLUMNS,
            codes.extent(1),
            rows,
            code.array(1),
            panels,
            scales,
            together,
            code.scratch.take(Storage.FLOATS, rows * together * NibblePanels.COLUMNS),
            code.scratch.take(Storage.FLOATS, together * NibblePanels.COLUMNS),
            code.result()));
  }
}
