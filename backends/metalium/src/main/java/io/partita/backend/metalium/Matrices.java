package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The matrices of a program: tensors whose last dimension is that of columns. Weights are stored in
 * the order in which they are made.
 */
final class Matrices {
  private final Map<Value, Matrix> known = new IdentityHashMap<>();
  private final Map<Value, Matrix> rows = new IdentityHashMap<>();
  private final Map<Value, Matrix> transposed = new IdentityHashMap<>();
  private final Map<String, Matrix> shared = new HashMap<>();
  private final List<Matrix> all = new ArrayList<>();
  private final List<Weight> weights = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final ElementType element;

  /** The elements of a constant, row by row. */
  private record Weight(Tensor data, long rows, long columns, boolean isTransposed) {
    void writeTo(OutputStream out) throws IOException {
      ByteBuffer line = ByteBuffer.allocate(Math.toIntExact(4 * columns));
      line.order(ByteOrder.LITTLE_ENDIAN);
      for (long row = 0; row < rows; row++) {
        line.clear();
        for (long column = 0; column < columns; column++) {
          long index = isTransposed ? column * rows + row : row * columns + column;
          line.putFloat((float) data.getDouble(Math.toIntExact(index % data.size())));
        }
        out.write(line.array());
      }
    }
  }

  /**
   * @param element the type of all elements
   */
  Matrices(ElementType element) {
    this.element = element;
  }

  List<Matrix> all() {
    return all;
  }

  void writeWeights(OutputStream out) throws IOException {
    for (Weight weight : weights) {
      weight.writeTo(out);
    }
  }

  /** A matrix that the host writes before each run. */
  Matrix input(Value value) {
    return result(value);
  }

  /** A matrix that keeps its elements between runs. It begins with zeros. */
  Matrix state(Value value) {
    return known.computeIfAbsent(value, key -> of(key, "state"));
  }

  /** Another value that is in a matrix. */
  void alias(Value value, Matrix matrix) {
    known.put(value, matrix);
  }

  Matrix result(Value value) {
    return known.computeIfAbsent(value, key -> of(key, "allocate"));
  }

  /** The matrix of a value that is in DRAM; a reshaped one has the same tiles. */
  Optional<Matrix> find(Value value) {
    Matrix found = known.get(value);
    if (found != null || value.isInput()) {
      return Optional.ofNullable(found);
    }
    Node definition = value.definition();
    if (definition.op() instanceof Movement.Reshape) {
      Value from = definition.operand(0);
      return columns(from.type()) == columns(value.type()) ? find(from) : Optional.empty();
    }
    if (isTransparent(definition)) {
      return find(definition.operand(0));
    }
    return definition.constant().map(data -> constant(value, data));
  }

  /** Whether a node is a cast between floating-point types that are stored alike. */
  boolean isTransparent(Node node) {
    return node.op() instanceof Elementwise.Cast(ElementType to)
        && isStored(to)
        && isStored(node.operand(0).type().element());
  }

  /** In a model of bf16, the scheduler's intermediate f32 is stored as bf16 as well. */
  private boolean isStored(ElementType type) {
    return type == element || element == ElementType.BF16 && type == ElementType.F32;
  }

  private Matrix constant(Value value, Tensor data) {
    Matrix matrix = of(value, "constant");
    weights.add(new Weight(data, matrix.rows(), matrix.columns(), false));
    known.put(value, matrix);
    return matrix;
  }

  /** A constant vector as a tile of equal rows, which is added to each row of a result. */
  Optional<Matrix> row(Value value) {
    return constant(value)
        .map(
            data ->
                rows.computeIfAbsent(
                    value,
                    key -> {
                      Matrix one = checked(key, 1, data.size());
                      return weight(one.name(), data, Matrix.TILE, data.size(), false);
                    }));
  }

  Optional<Matrix> transposed(Value value) {
    return constant(value)
        .map(
            data ->
                transposed.computeIfAbsent(
                    value,
                    key -> {
                      long[] extents = data.shape().extents();
                      Matrix matrix = checked(key, extents[1], extents[0]);
                      return weight(matrix.name(), data, extents[1], extents[0], true);
                    }));
  }

  /** A constant matrix that several kernels use, by name. */
  Matrix shared(String name, long rows, long columns, double[] elements) {
    return shared.computeIfAbsent(
        name,
        key -> {
          Shape shape = Shape.of(rows, columns);
          Tensor data = Tensor.ofDoubles(new TensorType(ElementType.F32, shape), elements);
          return weight(unique(key), data, rows, columns, false);
        });
  }

  /** A tile with ones in its first rows, and zeros. */
  Matrix ones(String name, int rows) {
    double[] elements = new double[Matrix.TILE * Matrix.TILE];
    Arrays.fill(elements, 0, rows * Matrix.TILE, 1);
    return shared(name, Matrix.TILE, Matrix.TILE, elements);
  }

  /**
   * Two tiles of factors that make the sum of a row its mean: for whole tiles, and for the last
   * one, whose padding doesn't count.
   */
  Matrix meanOfRow(String name, int columns) {
    double[] elements = new double[2 * Matrix.TILE * Matrix.TILE];
    int last = (columns - 1) % Matrix.TILE;
    for (int row = 0; row < Matrix.TILE; row++) {
      int start = 2 * row * Matrix.TILE;
      Arrays.fill(elements, start, start + Matrix.TILE + last + 1, 1.0 / columns);
    }
    return shared(name, Matrix.TILE, 2L * Matrix.TILE, elements);
  }

  /** A tile of equal elements. */
  Matrix filled(String name, double number) {
    return weight(
        unique(name), Tensor.scalar(ElementType.F32, number), Matrix.TILE, Matrix.TILE, false);
  }

  private static Optional<Tensor> constant(Value value) {
    return value.isInput() ? Optional.empty() : value.definition().constant();
  }

  private Matrix weight(String name, Tensor data, long rows, long columns, boolean isTransposed) {
    Matrix matrix = new Matrix(name, "constant", rows, columns);
    all.add(matrix);
    weights.add(new Weight(data, rows, columns, isTransposed));
    return matrix;
  }

  private Matrix of(Value value, String kind) {
    TensorType type = value.type();
    Matrix shape = checked(value, type.shape().elements() / columns(type), columns(type));
    Matrix matrix = new Matrix(shape.name(), kind, shape.rows(), shape.columns());
    all.add(matrix);
    return matrix;
  }

  private Matrix checked(Value value, long rows, long columns) {
    if (!isStored(value.type().element())) {
      throw new PartitaException(
          MetaliumCode.SHAPE,
          "value \"" + value.name() + "\"",
          element + " elements",
          value.type().toString(),
          "compile the model for --target java or siracusa, which support all types");
    }
    return new Matrix(unique(value.name()), "", rows, columns);
  }

  /**
   * Columns beyond a matrix are zeros, since they take part in sums; rows beyond it don't matter.
   *
   * @throws PartitaException if an operation would write other elements there
   */
  static void requireWholeTiles(Value value) {
    if (columns(value.type()) % Matrix.TILE != 0) {
      throw new PartitaException(
          MetaliumCode.SHAPE,
          "value \"" + value.name() + "\"",
          "a last dimension that is a multiple of 32, for a function that isn't 0 at 0",
          value.type().toString(),
          "compile the model for --target java or siracusa, which have no tiles");
    }
  }

  static long columns(TensorType type) {
    return type.rank() == 0 ? 1 : type.shape().extent(type.rank() - 1);
  }

  private String unique(String name) {
    String plain =
        name.replaceAll("[^A-Za-z0-9]+", "_").replaceAll("^_+|_+$", "").toLowerCase(Locale.ROOT);
    String base = plain.isEmpty() ? "value" : plain;
    // Kernels and the main program have names of their own.
    String first = "t_" + base;
    String chosen = first;
    for (int number = 2; !names.add(chosen); number++) {
      chosen = first + "_" + number;
    }
    return chosen;
  }
}
