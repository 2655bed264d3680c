package io.partita.backend.java.plan;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Writes one weight in its layout, a block at a time. */
final class WeightWriter {
  private static final int BLOCK = 1 << 20;

  private WeightWriter() {}

  static void write(WeightsPlan.Entry entry, OutputStream out) throws IOException {
    if (entry.data().size() == 0) {
      return;
    }
    switch (entry.layout()) {
      case ROW_MAJOR -> {
        if (entry.data().element().bits() == 4) {
          writeUnpacked(entry.data(), out);
        } else {
          copy(entry.data().bytes(), 0, entry.bytes(), out);
        }
      }
      case PANELS -> writePanels(entry, out);
      case PANELS_OF_TRANSPOSE -> writeTransposedPanels(entry, out);
    }
  }

  private static void copy(MemorySegment data, long from, long count, OutputStream out)
      throws IOException {
    byte[] block = new byte[(int) Math.min(BLOCK, count)];
    for (long done = 0; done < count; done += block.length) {
      int length = (int) Math.min(block.length, count - done);
      MemorySegment.copy(data, ValueLayout.JAVA_BYTE, from + done, block, 0, length);
      out.write(block, 0, length);
    }
  }

  private static void writeUnpacked(Tensor data, OutputStream out) throws IOException {
    byte[] block = new byte[Math.min(BLOCK, data.size())];
    for (int done = 0; done < data.size(); done += block.length) {
      int length = Math.min(block.length, data.size() - done);
      for (int i = 0; i < length; i++) {
        block[i] = (byte) data.getLong(done + i);
      }
      out.write(block, 0, length);
    }
  }

  private static int elementBytes(ElementType element) {
    return element.bits() / Byte.SIZE;
  }

  private static void writePanels(WeightsPlan.Entry entry, OutputStream out) throws IOException {
    int columns = entry.columns();
    int rows = entry.data().size() / columns;
    int size = elementBytes(entry.data().element());
    for (int column = 0; column < columns; column += WeightsPlan.PANEL) {
      int width = Math.min(WeightsPlan.PANEL, columns - column);
      byte[] panel = new byte[Math.multiplyExact(rows, width * size)];
      for (int row = 0; row < rows; row++) {
        long from = ((long) row * columns + column) * size;
        MemorySegment.copy(
            entry.data().bytes(),
            ValueLayout.JAVA_BYTE,
            from,
            panel,
            row * width * size,
            width * size);
      }
      out.write(panel);
    }
  }

  /** Row {@code j} of the stored matrix becomes column {@code j} of a panel. */
  private static void writeTransposedPanels(WeightsPlan.Entry entry, OutputStream out)
      throws IOException {
    int columns = entry.columns();
    int rows = entry.data().size() / columns;
    int size = elementBytes(entry.data().element());
    byte[] line = new byte[Math.multiplyExact(rows, size)];
    for (int column = 0; column < columns; column += WeightsPlan.PANEL) {
      int width = Math.min(WeightsPlan.PANEL, columns - column);
      byte[] panel = new byte[Math.multiplyExact(rows, width * size)];
      for (int j = 0; j < width; j++) {
        long from = (long) (column + j) * rows * size;
        MemorySegment.copy(entry.data().bytes(), ValueLayout.JAVA_BYTE, from, line, 0, line.length);
        scatter(line, panel, j, width, size);
      }
      out.write(panel);
    }
  }

  private static void scatter(byte[] line, byte[] panel, int column, int width, int size) {
    int to = column * size;
    for (int from = 0; from < line.length; from += size) {
      for (int b = 0; b < size; b++) {
        panel[to + b] = line[from + b];
      }
      to += width * size;
    }
  }
}
