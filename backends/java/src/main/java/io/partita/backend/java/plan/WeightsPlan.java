package io.partita.backend.java.plan;

import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/** The position of each weight in the weights file, in the order of first use. */
public final class WeightsPlan {
  /** Columns of a panel: with four rows a tile fits half of the smallest first-level cache. */
  public static final int PANEL = 256;

  /** The alignment of positions in bytes, which suits views of all element types. */
  static final int ALIGNMENT = 64;

  /**
   * One weight.
   *
   * @param position the first byte
   * @param columns {@code out} of a matrix in panels; 0 for row-major ones
   */
  public record Entry(
      Tensor data, WeightLayout layout, long position, int columns, long bytes, String name) {}

  private final List<Entry> entries = new ArrayList<>();

  /** The bytes of the checksum after the weights. */
  public static final int CHECKSUM_BYTES = 4;

  private final Map<Object, List<Entry>> known = new IdentityHashMap<>();
  private long end;

  /** Adds a row-major weight, unless it is already there. */
  public Entry rowMajor(Tensor data, String name) {
    return add(data, WeightLayout.ROW_MAJOR, 0, name);
  }

  /** Adds a matrix in panels, unless it is already there. */
  public Entry panels(Tensor data, boolean transposed, int columns, String name) {
    return add(
        data, transposed ? WeightLayout.PANELS_OF_TRANSPOSE : WeightLayout.PANELS, columns, name);
  }

  private Entry add(Tensor data, WeightLayout layout, int columns, String name) {
    List<Entry> same = known.computeIfAbsent(data.bytes(), key -> new ArrayList<>(1));
    for (Entry entry : same) {
      if (entry.layout() == layout && entry.columns() == columns) {
        return entry;
      }
    }
    long bytes = (long) data.size() * Storage.of(data.element()).bytes();
    Entry entry = new Entry(data, layout, end, columns, bytes, name);
    end = Math.ceilDiv(end + bytes, (long) ALIGNMENT) * ALIGNMENT;
    entries.add(entry);
    same.add(entry);
    return entry;
  }

  /** Returns the same positions for other data of the same types. */
  WeightsPlan with(UnaryOperator<Tensor> other) {
    WeightsPlan plan = new WeightsPlan();
    for (Entry e : entries) {
      plan.entries.add(
          new Entry(
              other.apply(e.data()), e.layout(), e.position(), e.columns(), e.bytes(), e.name()));
    }
    plan.end = end;
    return plan;
  }

  /** The number of parameters of the model; a table in two layouts counts once. */
  public long parameters() {
    return known.values().stream().mapToLong(same -> same.getFirst().data().size()).sum();
  }

  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  /** The bytes of the weights in the weights file, without the checksum. */
  public long bytes() {
    return end;
  }

  /** Writes the weights file: the weights, then their CRC-32C as a little-endian integer. */
  public void writeTo(OutputStream out) throws IOException {
    CheckedOutputStream checked = new CheckedOutputStream(out, new CRC32C());
    writeWeights(checked);
    int checksum = (int) checked.getChecksum().getValue();
    out.write(
        ByteBuffer.allocate(CHECKSUM_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(checksum)
            .array());
  }

  private void writeWeights(OutputStream out) throws IOException {
    long position = 0;
    for (Entry entry : entries) {
      out.write(new byte[Math.toIntExact(entry.position() - position)]);
      WeightWriter.write(entry, out);
      position = entry.position() + entry.bytes();
    }
    out.write(new byte[Math.toIntExact(end - position)]);
  }
}
