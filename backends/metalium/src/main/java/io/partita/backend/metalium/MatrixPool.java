package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The matrices of all chips. A mesh allocates each of them on every chip, at the same address.
 * Matrices of several chips with the same name, extents and kind are one. Weights are stored in the
 * order in which they are added.
 */
final class MatrixPool {
  /** The kind of constants that only the host reads. */
  static final String NUMBERS = "numbers";

  /** The most elements of constants that are compared by content. */
  private static final int MAX_COMPARED = 1 << 14;

  private final TileFormat elements;
  private final TileFormat weights;
  private final Map<String, Entry> entries = new LinkedHashMap<>();

  /** The states of each chip, by the name of their input. */
  private final Map<Integer, Map<String, Matrix>> states = new HashMap<>();

  /** The matrices of the entry points before, whose weights this one uses, too. */
  private List<Entry> before = List.of();

  /**
   * @param elements the format of all matrices but the weights of products
   * @param weights the format of these
   */
  MatrixPool(TileFormat elements, TileFormat weights) {
    this.elements = elements;
    this.weights = weights;
  }

  TileFormat elements() {
    return elements;
  }

  TileFormat weights() {
    return weights;
  }

  /** A matrix, the chips that use it, and the elements that it begins with on each. */
  private record Entry(Matrix matrix, Set<Integer> chips, SortedMap<Integer, Weight> weights) {
    /** Whether all chips that use it have the same elements. */
    boolean isEqual() {
      return weights.values().stream().distinct().count() <= 1;
    }
  }

  /** The elements of a constant, row by row. */
  record Weight(Tensor data, long rows, long columns, boolean isTransposed) {
    /** Whether the elements are the same in the same order; of large ones, the same tensor. */
    boolean isSame(Weight other) {
      boolean isEqual =
          data == other.data || data.size() <= MAX_COMPARED && data.equals(other.data);
      return isEqual
          && rows == other.rows
          && columns == other.columns
          && isTransposed == other.isTransposed;
    }

    /** Writes elements that the format has, so that no host rounds them in another way. */
    void writeTo(OutputStream out, TileFormat format) throws IOException {
      ByteBuffer line = ByteBuffer.allocate(Math.toIntExact(4 * columns));
      line.order(ByteOrder.LITTLE_ENDIAN);
      float[] elements = new float[Math.toIntExact(columns)];
      for (long row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
          long index = isTransposed ? column * rows + row : row * columns + column;
          elements[column] = (float) data.getDouble(Math.toIntExact(index % data.size()));
        }
        format.round(elements);
        line.asFloatBuffer().put(elements);
        out.write(line.array());
      }
    }
  }

  /**
   * Adds a matrix of a chip.
   *
   * @param name the name of a value, which becomes an identifier
   */
  Matrix add(int chip, String name, String kind, long rows, long columns) {
    return add(chip, name, kind, elements, rows, columns);
  }

  /** Begins another entry point of the same program. */
  void enter() {
    before = List.copyOf(entries.values());
  }

  /**
   * Adds a state of a chip, which is that of the same name for all entry points.
   *
   * @param name the name of an input
   */
  Matrix addState(int chip, String name, long rows, long columns) {
    return states
        .computeIfAbsent(chip, key -> new HashMap<>())
        .computeIfAbsent(name, key -> add(chip, name, "state", rows, columns));
  }

  private Matrix add(
      int chip, String name, String kind, TileFormat format, long rows, long columns) {
    String plain =
        name.replaceAll("[^A-Za-z0-9]+", "_").replaceAll("^_+|_+$", "").toLowerCase(Locale.ROOT);
    // Kernels and the main program have names of their own.
    String first = "t_" + (plain.isEmpty() ? "value" : plain);
    for (int number = 1; ; number++) {
      Matrix matrix =
          new Matrix(number == 1 ? first : first + "_" + number, kind, format, rows, columns);
      Entry entry =
          entries.computeIfAbsent(
              matrix.name(), key -> new Entry(matrix, new HashSet<>(), new TreeMap<>()));
      if (entry.matrix.equals(matrix) && entry.chips.add(chip)) {
        return matrix;
      }
    }
  }

  /** Adds a constant of a chip, or returns the same one of another entry point. */
  Matrix add(int chip, String name, TileFormat format, Weight weight) {
    for (Entry entry : before) {
      Weight known = entry.weights.get(chip);
      if (known != null && known.isSame(weight) && entry.matrix.format() == format) {
        return entry.matrix;
      }
    }
    Matrix matrix = add(chip, name, "constant", format, weight.rows, weight.columns);
    entries.get(matrix.name()).weights.put(chip, weight);
    return matrix;
  }

  /** Adds constant numbers that the host's program reads, in the order of rows. */
  Matrix addNumbers(String name, Tensor data) {
    long count = data.size();
    Matrix matrix = add(0, name, NUMBERS, TileFormat.F32, 1, count);
    entries.get(matrix.name()).weights.put(0, new Weight(data, 1, count, false));
    return matrix;
  }

  List<Matrix> all() {
    return entries.values().stream().map(Entry::matrix).toList();
  }

  /** The chips whose weights differ, in the order in which they are stored. */
  Optional<Collection<Integer>> different(Matrix matrix) {
    Entry entry = entries.get(matrix.name());
    return entry.isEqual() ? Optional.empty() : Optional.of(entry.weights.keySet());
  }

  /** Where the elements of a chip's weight begin among all that are stored, and their order. */
  record Place(long offset, long rows, long columns, boolean isTransposed) {}

  /** The place of a weight; empty for other matrices. */
  Optional<Place> place(Matrix matrix, int chip) {
    long offset = 0;
    for (Entry entry : entries.values()) {
      long size = matrix.rows() * matrix.columns();
      Weight weight = entry.weights.get(chip);
      if (entry.matrix.equals(matrix)) {
        int before = entry.isEqual() ? 0 : entry.weights.headMap(chip).size();
        long start = offset + before * size;
        return Optional.ofNullable(weight)
            .map(each -> new Place(start, each.rows, each.columns, each.isTransposed));
      }
      int copies = entry.isEqual() ? Math.min(1, entry.weights.size()) : entry.weights.size();
      offset += copies * entry.matrix.rows() * entry.matrix.columns();
    }
    return Optional.empty();
  }

  void writeWeights(OutputStream out) throws IOException {
    for (Entry entry : entries.values()) {
      Collection<Weight> weights = entry.weights.values();
      for (Weight weight : entry.isEqual() ? weights.stream().limit(1).toList() : weights) {
        weight.writeTo(out, entry.matrix.format());
      }
    }
  }
}
