package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Batched matrix products, and layers that consist of them. */
final class MatrixKernels {
  private MatrixKernels() {}

  /** The array of sums, in the type in which they are accumulated. */
  private sealed interface Sums {
    record Floats(float[] values) implements Sums {}

    record Ints(int[] values) implements Sums {}

    record Longs(long[] values) implements Sums {}

    record Doubles(double[] values) implements Sums {}
  }

  /** A product of integer matrices, written in row-major order from a position of an array on. */
  interface IntegerProduct {
    void multiply(Matrix left, Matrix right, int[] out, int outStart);
  }

  /** Collects products of matrices that form a tensor. */
  static final class Product {
    private final TensorType type;
    private final IntegerProduct integers;
    private final Sums sums;

    Product(TensorType type) {
      this(type, IntProduct::multiply);
    }

    /** Products that are computed by {@code integers} if their sums are of at most 32 bits. */
    Product(TensorType type, IntegerProduct integers) {
      int size = Math.toIntExact(type.shape().elements());
      this.type = type;
      this.integers = integers;
      this.sums =
          switch (type.element()) {
            case F64 -> new Sums.Doubles(new double[size]);
            case F32, F16, BF16 -> new Sums.Floats(new float[size]);
            case I64, U64 -> new Sums.Longs(new long[size]);
            case I32, I16, I8, I4, U32, U16, U8, U4, BOOL -> new Sums.Ints(new int[size]);
          };
    }

    /** Writes {@code left right} in row-major order, beginning at {@code start}. */
    void multiply(Matrix left, Matrix right, int start) {
      switch (sums) {
        case Sums.Floats(float[] out) -> FloatProduct.multiply(left, right, out, start);
        case Sums.Ints(int[] out) -> integers.multiply(left, right, out, start);
        case Sums.Longs(long[] out) -> multiplyLongs(left, right, out, start);
        case Sums.Doubles(double[] out) -> multiplyDoubles(left, right, out, start);
      }
    }

    /** Returns the sums, rounded or wrapped to the element type. */
    Tensor tensor() {
      return switch (sums) {
        case Sums.Floats(float[] values) ->
            type.element() == ElementType.F32
                ? Tensor.of(type, values)
                : ElementwiseKernels.cast(Tensor.floats(type.shape(), values), type);
        case Sums.Ints(int[] values) -> {
          TensorType wide = type.with(ElementType.I32);
          Tensor tensor = Tensor.of(wide, MemorySegment.ofArray(values));
          yield ElementwiseKernels.cast(tensor, type);
        }
        case Sums.Longs(long[] values) -> Tensor.ofLongs(type, values);
        case Sums.Doubles(double[] values) -> Tensor.ofDoubles(type, values);
      };
    }
  }

  private static void multiplyDoubles(Matrix left, Matrix right, double[] out, int start) {
    int columns = right.columns();
    double[][] rows = new double[right.rows()][];
    java.util.Arrays.setAll(rows, right::doubleRow);
    ParallelTasks.run(
        left.rows(),
        (long) left.rows() * columns * left.columns(),
        i -> {
          double[] factors = left.doubleRow(i);
          double[] sums = new double[columns];
          for (int k = 0; k < factors.length; k++) {
            double factor = factors[k];
            double[] row = rows[k];
            for (int j = 0; j < columns; j++) {
              sums[j] += factor * row[j];
            }
          }
          System.arraycopy(sums, 0, out, start + i * columns, columns);
        });
  }

  private static void multiplyLongs(Matrix left, Matrix right, long[] out, int start) {
    int columns = right.columns();
    long[][] rows = new long[right.rows()][];
    java.util.Arrays.setAll(rows, right::longRow);
    ParallelTasks.run(
        left.rows(),
        (long) left.rows() * columns * left.columns(),
        i -> {
          long[] factors = left.longRow(i);
          long[] sums = new long[columns];
          for (int k = 0; k < factors.length; k++) {
            long factor = factors[k];
            long[] row = rows[k];
            for (int j = 0; j < columns; j++) {
              sums[j] += factor * row[j];
            }
          }
          System.arraycopy(sums, 0, out, start + i * columns, columns);
        });
  }

  static Tensor matMul(Tensor left, Tensor right, TensorType type) {
    return matMul(left, right, new Product(type));
  }

  /** The products of matrices that {@code product} computes, as of {@link Contraction.MatMul}. */
  static Tensor matMul(Tensor left, Tensor right, Product product) {
    TensorType type = product.type;
    int rank = type.rank();
    int m = (int) left.shape().fromEnd(1).value();
    int k = (int) left.shape().fromEnd(0).value();
    int n = (int) right.shape().fromEnd(0).value();
    Shape batch = type.shape().range(0, rank - 2);
    boolean oneRight = right.shape().range(0, right.shape().rank() - 2).elements() == 1;
    if (oneRight && left.size() == batch.elements() * m * k) {
      // A common right operand of all batches gives one tall product.
      int rows = Math.toIntExact(batch.elements() * m);
      product.multiply(new Matrix(left, 0, rows, k, false), new Matrix(right, 0, k, n, false), 0);
      return product.tensor();
    }
    Lines lines =
        Lines.broadcast(
            batch,
            left.shape().range(0, left.shape().rank() - 2),
            right.shape().range(0, right.shape().rank() - 2));
    int leftStride = lines.stride(0);
    int rightStride = lines.stride(1);
    int[] leftBatch = new int[Math.toIntExact(batch.elements())];
    int[] rightBatch = new int[leftBatch.length];
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            leftBatch[position + i] = offsets[0] + i * leftStride;
            rightBatch[position + i] = offsets[1] + i * rightStride;
          }
        });
    ParallelTasks.run(
        leftBatch.length,
        (long) leftBatch.length * m * k * n,
        i ->
            product.multiply(
                new Matrix(left, (long) leftBatch[i] * m * k, m, k, false),
                new Matrix(right, (long) rightBatch[i] * k * n, k, n, false),
                i * m * n));
    return product.tensor();
  }

  /** {@code x weight (+ bias)}; {@code parameters} are the weight and the bias, if any. */
  static Tensor linear(Tensor x, List<Tensor> parameters, boolean transposed) {
    Tensor weight = parameters.getFirst();
    int in = (int) weight.shape().extent(transposed ? 1 : 0);
    int out = (int) weight.shape().extent(transposed ? 0 : 1);
    int rows = Math.toIntExact(x.shape().range(0, x.shape().rank() - 1).elements());
    TensorType type =
        x.type().with(x.shape().with(x.shape().rank() - 1, io.partita.ir.type.Dim.of(out)));
    Product product = new Product(type);
    product.multiply(
        new Matrix(x, 0, rows, in, false), new Matrix(weight, 0, in, out, transposed), 0);
    Tensor result = product.tensor();
    return parameters.size() == 1
        ? result
        : ElementwiseKernels.binary(BinaryFunction.ADD, result, parameters.get(1), type);
  }

  static Tensor ffn(Structured.Ffn ffn, List<Tensor> operands) {
    Tensor x = operands.getFirst();
    int next = 1;
    Tensor gate = null;
    if (ffn.gated()) {
      int count = ffn.gateBias() ? 2 : 1;
      gate = activated(ffn.activation(), linear(x, operands.subList(next, next + count), false));
      next += count;
    }
    int count = ffn.upBias() ? 2 : 1;
    Tensor up = linear(x, operands.subList(next, next + count), false);
    Tensor hidden =
        gate == null
            ? activated(ffn.activation(), up)
            : ElementwiseKernels.binary(BinaryFunction.MUL, gate, up, up.type());
    return linear(hidden, operands.subList(next + count, operands.size()), false);
  }

  private static Tensor activated(UnaryFunction activation, Tensor x) {
    return ElementwiseKernels.unary(activation, x, x.type());
  }

  /** Patches as rows, times the weight as {@code [e, c·ph·pw]}. */
  static Tensor patchEmbedding(List<Tensor> operands, TensorType type) {
    Tensor image = operands.get(0);
    Tensor weight = operands.get(1);
    long channels = image.shape().extent(1);
    long height = weight.shape().extent(2);
    long width = weight.shape().extent(3);
    long rows = height == 0 ? 0 : image.shape().extent(2) / height;
    long columns = width == 0 ? 0 : image.shape().extent(3) / width;
    long batch = image.shape().extent(0);
    Tensor split = image.reshaped(Shape.of(batch, channels, rows, height, columns, width));
    TensorType turned = image.type().with(Shape.of(batch, rows, columns, channels, height, width));
    Tensor patches = MovementKernels.transpose(split, List.of(0, 2, 4, 1, 3, 5), turned);
    long features = channels * height * width;
    List<Tensor> parameters = new java.util.ArrayList<>(operands.subList(1, operands.size()));
    parameters.set(0, weight.reshaped(Shape.of(weight.shape().extent(0), features)));
    Tensor x = patches.reshaped(Shape.of(batch, rows * columns, features));
    return linear(x, parameters, true).reshaped(type.shape());
  }
}
