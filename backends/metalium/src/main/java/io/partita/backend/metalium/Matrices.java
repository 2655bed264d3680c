package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The matrices of a chip's program: tensors whose last dimension is that of columns. */
final class Matrices {
  private final Map<Value, Matrix> known = new IdentityHashMap<>();
  private final Map<Value, Matrix> rows = new IdentityHashMap<>();

  /** Weights of products that are stored otherwise than as {@link #known} matrices. */
  private final Map<Value, Matrix> products = new IdentityHashMap<>();

  private final Map<String, Matrix> shared = new HashMap<>();

  /** The values that steps compute, by the name of the matrix. */
  private final Map<String, Value> produced = new HashMap<>();

  private final MatrixPool pool;
  private final HostNumbers numbers;
  private final int chip;
  private final ElementType element;

  /**
   * @param pool the matrices of all chips
   * @param numbers what the host computes
   * @param element the type of all elements
   */
  Matrices(MatrixPool pool, HostNumbers numbers, int chip, ElementType element) {
    this.pool = pool;
    this.numbers = numbers;
    this.chip = chip;
    this.element = element;
  }

  /** A matrix that the host writes before each run. */
  Matrix input(Value value) {
    return result(value);
  }

  /** A matrix that keeps its elements between runs. It begins with zeros. */
  Matrix state(Value value) {
    return known.computeIfAbsent(
        value,
        key -> {
          requireStored(key);
          long columns = columns(key.type());
          long rows = key.type().shape().elements() / columns;
          return pool.addState(chip, key.name(), rows, columns);
        });
  }

  /** Whether the host computes a value, which kernels may read as a matrix. */
  boolean isHosted(Value value) {
    return numbers.isHosted(value);
  }

  /** The matrix to which the host writes the numbers of a value; empty for integers. */
  Optional<Matrix> hosted(Value value) {
    if (!isStored(value)) {
      return Optional.empty();
    }
    Matrix matrix = result(value);
    numbers.write(numbers.of(value), chip, matrix);
    return Optional.of(matrix);
  }

  /** The numbers of a value that the host computes, of which elements count several times. */
  Matrix hosted(Value value, Shape shape) {
    return hosted(value.name() + " repeated", numbers.broadcast(value, shape), shape);
  }

  /** A number where flags of the host are as given, and zeros. */
  Matrix chosen(Value flags, boolean where, double number, Shape shape) {
    return hosted(flags.name() + " chosen", numbers.chosen(flags, where, number, shape), shape);
  }

  private Matrix hosted(String name, HostNumbers.Numbers elements, Shape shape) {
    return shared.computeIfAbsent(
        elements.name() + " " + shape,
        key -> {
          long columns = shape.fromEnd(0).value();
          Matrix matrix = scratch(name, shape.elements() / columns, columns);
          numbers.write(elements, chip, matrix);
          return matrix;
        });
  }

  /**
   * What a mask adds to scores, in rows of keys.
   *
   * @param shape of the rows of the mask, as far as they differ
   */
  Matrix maskTerms(Value mask, Shape shape) {
    Optional<Tensor> constant = constant(mask);
    if (constant.isEmpty()) {
      return hosted(mask.name() + " terms", numbers.terms(mask, shape), shape);
    }
    Tensor data =
        OpEvaluator.evaluate(new Movement.Broadcast(shape), List.of(constant.get())).getFirst();
    double[] terms =
        Arrays.stream(data.doubles())
            .map(x -> HostNumbers.term(x, mask.type().element()))
            .toArray();
    long columns = shape.fromEnd(0).value();
    return shared(mask.name() + " terms " + shape, terms.length / columns, columns, terms);
  }

  /** Another value that is in a matrix. */
  void alias(Value value, Matrix matrix) {
    known.put(value, matrix);
  }

  Matrix result(Value value) {
    return known.computeIfAbsent(value, key -> of(key, "allocate"));
  }

  /** Records that a step computes a value. */
  void produces(Matrix matrix, Value value) {
    produced.put(matrix.name(), value);
  }

  /** The value that a step computes in a matrix, if it is one of the graph. */
  Optional<Value> produced(Matrix matrix) {
    return Optional.ofNullable(produced.get(matrix.name()));
  }

  /** The matrix that a constant is stored as, but for products. */
  Optional<Matrix> stored(Value constant) {
    return Stream.of(known, rows)
        .flatMap(all -> Optional.ofNullable(all.get(constant)).stream())
        .findFirst();
  }

  /** The matrix that a constant is stored as for products, if that is another one. */
  Optional<Matrix> storedForProducts(Value constant) {
    return Optional.ofNullable(products.get(constant));
  }

  /** A matrix of a chip's own numbers, which no value of the model is. */
  Matrix scratch(String name, long rows, long columns) {
    return pool.add(chip, name, "allocate", rows, columns);
  }

  /** The result of an exchange of small integers, which are stored like all elements. */
  Matrix exchangedWords(Value value) {
    return pool.add(
        chip, value.name() + " exchanged", "allocate", 1, value.type().shape().elements());
  }

  /** The result of an exchange, whose name is the same on chips with other steps before. */
  Matrix exchanged(Value value) {
    return of(value, value.name() + " exchanged", "allocate");
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

  /**
   * Whether the result of a node is stored where its operand is: for a gate, and for a cast between
   * types that are stored alike.
   */
  boolean isTransparent(Node node) {
    return node.op() instanceof Communication.Gate
        || node.op() instanceof Elementwise.Cast
            && isStored(node.result())
            && isStored(node.operand(0))
            && !isRounding(node);
  }

  /** Whether a node rounds f32 to bf16, of which all numbers are stored as f32. */
  boolean isRounding(Node node) {
    return element == ElementType.F32
        && node.op() instanceof Elementwise.Cast(ElementType to)
        && to == ElementType.BF16
        && node.operand(0).type().element() == ElementType.F32;
  }

  /**
   * In a model of bf16, the scheduler's intermediate f32 is stored as bf16 as well; in one of f32,
   * numbers that it rounds to bf16 are stored as f32, and it computes nothing else in bf16. Codes
   * are numbers like all others.
   */
  private boolean isStored(Value value) {
    ElementType type = value.type().element();
    return type == ElementType.F32
        || type == ElementType.BF16
        || (type == ElementType.U8 || type == ElementType.I32) && Codes.areExact(value, element);
  }

  private Matrix constant(Value value, Tensor data) {
    long columns = columns(value.type());
    long rows = value.type().shape().elements() / columns;
    Matrix matrix = checked(value, pool.elements(), data, rows, columns, false);
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
                    key -> checked(key, pool.elements(), data, Matrix.TILE, data.size(), false)));
  }

  /** The constant right operand of a product, in the format of weights. */
  Optional<Matrix> weight(Value value, boolean isTransposed) {
    if (!isTransposed && pool.weights() == pool.elements()) {
      return constant(value).flatMap(data -> find(value));
    }
    return constant(value)
        .map(
            data ->
                products.computeIfAbsent(
                    value,
                    key -> {
                      long columns = columns(key.type());
                      long rows = data.size() / columns;
                      return isTransposed
                          ? checked(key, pool.weights(), data, columns, rows, true)
                          : checked(key, pool.weights(), data, rows, columns, false);
                    }));
  }

  /** A constant matrix that several kernels use, by name. */
  Matrix shared(String name, long rows, long columns, double[] elements) {
    return shared.computeIfAbsent(name, key -> constant(key, rows, columns, elements));
  }

  /** A constant matrix of one kernel. */
  Matrix constant(String name, long rows, long columns, double[] elements) {
    Tensor data = Tensor.ofDoubles(TensorType.of(ElementType.F32, rows, columns), elements);
    return weight(name, pool.elements(), data, rows, columns, false);
  }

  /** A constant matrix of one kernel, with all bits of its elements also in a model of bf16. */
  Matrix constantOfF32(String name, long rows, long columns, double[] elements) {
    Tensor data = Tensor.ofDoubles(TensorType.of(ElementType.F32, rows, columns), elements);
    return weight(name, TileFormat.F32, data, rows, columns, false);
  }

  /** A constant that broadcasts to a type, with each element as often as it counts. */
  Matrix repeated(Value value, TensorType type) {
    Movement.Broadcast broadcast = new Movement.Broadcast(type.shape());
    Tensor data =
        OpEvaluator.evaluate(broadcast, List.of(constant(value).orElseThrow())).getFirst();
    long columns = columns(type);
    return constant(value.name() + " repeated", data.size() / columns, columns, data.doubles());
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

  /** Rows of equal elements, which are added to each row of a result or the like. */
  Matrix scalar(double number, long columns) {
    double[] elements = new double[Math.toIntExact(Matrix.TILE * columns)];
    Arrays.fill(elements, number);
    return shared("all_" + number + "_" + columns, Matrix.TILE, columns, elements);
  }

  Matrix zeros(long rows, long columns) {
    double[] elements = new double[Math.toIntExact(rows * columns)];
    return shared("zeros_" + rows + "_" + columns, rows, columns, elements);
  }

  /**
   * The numbers of the columns that a value takes from a matrix, in two rows: high bytes and low
   * bytes, which all formats hold exactly. A negative number counts from the end.
   *
   * @param columns how many the matrix has
   */
  Matrix columnNumbers(Value value, long[] numbers, long columns) {
    double[] bytes = new double[2 * numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      long column = numbers[i] < 0 ? numbers[i] + columns : numbers[i];
      bytes[i] = column >> Byte.SIZE;
      bytes[numbers.length + i] = column & 0xff;
    }
    return constant(value.name() + " columns", 2, numbers.length, bytes);
  }

  /** A tile of equal elements. */
  Matrix filled(String name, double number) {
    Tensor data = Tensor.scalar(ElementType.F32, number);
    return weight(name, pool.elements(), data, Matrix.TILE, Matrix.TILE, false);
  }

  /** Returns the elements of a constant; empty for other values. */
  static Optional<Tensor> constant(Value value) {
    return value.isInput() ? Optional.empty() : value.definition().constant();
  }

  /** Whether a value is a constant of zeros. */
  static boolean isZero(Value value) {
    return constant(value).filter(data -> data.isFilledWith(0)).isPresent();
  }

  private Matrix weight(
      String name, TileFormat format, Tensor data, long rows, long columns, boolean isTransposed) {
    return pool.add(chip, name, format, new MatrixPool.Weight(data, rows, columns, isTransposed));
  }

  private Matrix checked(
      Value value, TileFormat format, Tensor data, long rows, long columns, boolean isTransposed) {
    requireStored(value);
    return weight(value.name(), format, data, rows, columns, isTransposed);
  }

  private Matrix of(Value value, String kind) {
    return of(value, value.name(), kind);
  }

  private Matrix of(Value value, String name, String kind) {
    requireStored(value);
    long columns = columns(value.type());
    long rows = value.type().shape().elements() / columns;
    return pool.add(chip, name, kind, rows, columns);
  }

  private void requireStored(Value value) {
    if (!isStored(value)) {
      throw new PartitaException(
          MetaliumCode.SHAPE,
          "value \"" + value.name() + "\"",
          element + " elements",
          value.type().toString(),
          "compile the model for --target java or siracusa, which support all types");
    }
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
}
