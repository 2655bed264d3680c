package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongBinaryOperator;
import java.util.stream.IntStream;

/** Operations along axes; float sums are kept in double and rounded once. */
final class ReductionKernels {
  private ReductionKernels() {}

  static Tensor reduce(Reduction.Reduce reduce, Tensor x, TensorType type) {
    List<Integer> axes = reduce.axes();
    int[] rows = offsets(x.shape(), axis -> !axes.contains(axis));
    // Without results, lines may be longer than any array.
    int[] line = rows.length == 0 ? rows : offsets(x.shape(), axes::contains);
    long steps = (long) rows.length * line.length;
    if (x.element().isFloat()) {
      double[] out = new double[rows.length];
      if (x.element() == ElementType.F32) {
        float[] in = x.floats();
        ParallelTasks.run(
            rows.length, steps, i -> out[i] = join(reduce.reduction(), in, rows[i], line));
      } else {
        double[] in = x.doubles();
        ParallelTasks.run(
            rows.length, steps, i -> out[i] = join(reduce.reduction(), in, rows[i], line));
      }
      return Tensor.ofDoubles(type, out);
    }
    long[] in = x.longs();
    long[] out = new long[rows.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = join(reduce.reduction(), x.element(), in, rows[i], line);
    }
    return Tensor.ofLongs(type, out);
  }

  /** Returns the row-major offsets of all index tuples over the chosen axes. */
  private static int[] offsets(Shape shape, java.util.function.IntPredicate chosen) {
    int[] axes = IntStream.range(0, shape.rank()).filter(chosen).toArray();
    long[] strides = shape.strides();
    long[] extents = Arrays.stream(axes).mapToLong(shape::extent).toArray();
    if (Arrays.stream(extents).anyMatch(extent -> extent == 0)) {
      return new int[0];
    }
    int[] offsets = new int[Math.toIntExact(Arrays.stream(extents).reduce(1, Math::multiplyExact))];
    Lines lines = new Lines(extents, Arrays.stream(axes).mapToLong(a -> strides[a]).toArray());
    int stride = lines.stride(0);
    lines.forEach(
        (position, start, length) -> {
          for (int i = 0; i < length; i++) {
            offsets[position + i] = start[0] + i * stride;
          }
        });
    return offsets;
  }

  private static double join(ReductionKind kind, float[] in, int row, int[] line) {
    double result = kind.identity();
    switch (kind) {
      case SUM, MEAN -> {
        for (int offset : line) {
          result += in[row + offset];
        }
      }
      case PRODUCT -> {
        for (int offset : line) {
          result *= in[row + offset];
        }
      }
      case MAX -> {
        for (int offset : line) {
          result = Math.max(result, in[row + offset]);
        }
      }
      case MIN -> {
        for (int offset : line) {
          result = Math.min(result, in[row + offset]);
        }
      }
    }
    return kind == ReductionKind.MEAN ? result / line.length : result;
  }

  private static double join(ReductionKind kind, double[] in, int row, int[] line) {
    double result = kind.identity();
    for (int offset : line) {
      double value = in[row + offset];
      result =
          switch (kind) {
            case SUM, MEAN -> result + value;
            case PRODUCT -> result * value;
            case MAX -> Math.max(result, value);
            case MIN -> Math.min(result, value);
          };
    }
    return kind == ReductionKind.MEAN ? result / line.length : result;
  }

  /** Reduces integers; their mean is rounded towards zero, and 0 for none. */
  private static long join(
      ReductionKind kind, ElementType element, long[] in, int row, int[] line) {
    long result = kind.identity(element);
    LongBinaryOperator operator = BinaryFunctions.ofLong(kind.function(), element);
    for (int offset : line) {
      result = operator.applyAsLong(result, in[row + offset]);
    }
    return kind == ReductionKind.MEAN
        ? BinaryFunctions.ofLong(BinaryFunction.DIV, element).applyAsLong(result, line.length)
        : result;
  }

  static Tensor argReduce(Reduction.ArgReduce arg, Tensor x, TensorType type) {
    Axis axis = Axis.of(x.shape(), arg.axis());
    long[] out = new long[axis.outer() * axis.inner()];
    if (out.length > 0 && axis.extent() == 0) {
      throw new PartitaException(
          EvaluationCode.EMPTY_LINE,
          arg.mnemonic(),
          "at least one element",
          x.type().toString(),
          "");
    }
    long[] keys = SortKeys.of(x);
    for (int line = 0; line < out.length; line++) {
      int start = axis.start(line);
      long best = Long.MIN_VALUE;
      for (int i = 0; i < axis.extent(); i++) {
        long key = keys[start + i * axis.inner()];
        // NaN is both the largest and the smallest, as in NumPy.
        long rank = arg.largest() || x.element().isFloat() && key == SortKeys.NAN ? key : ~key;
        if (i == 0 || rank > best || rank == best && arg.selectLast()) {
          best = rank;
          out[line] = i;
        }
      }
    }
    return Tensor.ofLongs(type, out);
  }

  static List<Tensor> topK(Reduction.TopK top, Tensor x, List<TensorType> types) {
    Axis axis = Axis.of(x.shape(), top.axis());
    int k = Math.toIntExact(top.k().value());
    long[] keys = SortKeys.of(x);
    Comparator<Integer> ascending = (left, right) -> Long.compare(keys[left], keys[right]);
    Comparator<Integer> order = top.largest() ? ascending.reversed() : ascending;
    RawElements source = RawElements.of(x);
    int lines = axis.outer() * axis.inner();
    RawElements values = RawElements.zeros(x.element(), lines * k);
    long[] indices = new long[lines * k];
    Axis results = new Axis(axis.outer(), k, axis.inner());
    for (int line = 0; line < lines; line++) {
      int start = axis.start(line);
      Integer[] places = new Integer[axis.extent()];
      Arrays.setAll(places, i -> start + i * axis.inner());
      Arrays.sort(places, order);
      for (int i = 0; i < k; i++) {
        int to = results.start(line) + i * axis.inner();
        values.copy(source, places[i], to);
        indices[to] = (places[i] - start) / axis.inner();
      }
    }
    return List.of(values.toTensor(types.get(0)), Tensor.ofLongs(types.get(1), indices));
  }

  static Tensor cumulative(Reduction.Cumulative cumulative, Tensor x) {
    Axis axis = Axis.of(x.shape(), cumulative.axis());
    boolean floats = x.element().isFloat();
    double[] doubles = floats ? x.doubles().clone() : null;
    long[] longs = floats ? null : x.longs().clone();
    for (int line = 0; line < axis.outer() * axis.inner(); line++) {
      double sum = cumulative.product() ? 1 : 0;
      long total = cumulative.product() ? 1 : 0;
      for (int i = 0; i < axis.extent(); i++) {
        int step = cumulative.reverse() ? axis.extent() - 1 - i : i;
        int place = axis.start(line) + step * axis.inner();
        if (floats) {
          double before = sum;
          sum = cumulative.product() ? sum * doubles[place] : sum + doubles[place];
          doubles[place] = cumulative.exclusive() ? before : sum;
        } else {
          long before = total;
          total = cumulative.product() ? total * longs[place] : total + longs[place];
          longs[place] = cumulative.exclusive() ? before : total;
        }
      }
    }
    return floats ? Tensor.ofDoubles(x.type(), doubles) : Tensor.ofLongs(x.type(), longs);
  }

  static Tensor softmax(Reduction.Softmax softmax, Tensor x) {
    Axis axis = Axis.of(x.shape(), softmax.axis());
    boolean narrow = x.element() == ElementType.F32;
    float[] floats = narrow ? x.floats() : null;
    double[] doubles = narrow ? null : x.doubles();
    float[] floatsOut = narrow ? new float[x.size()] : null;
    double[] doublesOut = narrow ? null : new double[x.size()];
    ParallelTasks.run(
        axis.outer() * axis.inner(),
        8L * x.size(),
        line -> {
          int start = axis.start(line);
          double[] row = new double[axis.extent()];
          for (int i = 0; i < row.length; i++) {
            int place = start + i * axis.inner();
            row[i] = narrow ? floats[place] : doubles[place];
          }
          softmax(row, softmax.logarithm());
          for (int i = 0; i < row.length; i++) {
            int place = start + i * axis.inner();
            if (narrow) {
              floatsOut[place] = (float) row[i];
            } else {
              doublesOut[place] = row[i];
            }
          }
        });
    return narrow ? Tensor.of(x.type(), floatsOut) : Tensor.ofDoubles(x.type(), doublesOut);
  }

  /** Computes the softmax in place. A row of only -∞ gives NaN, by the formula. */
  private static void softmax(double[] row, boolean logarithm) {
    double largest = Double.NEGATIVE_INFINITY;
    for (double value : row) {
      largest = Math.max(largest, value);
    }
    double sum = 0;
    for (int i = 0; i < row.length; i++) {
      row[i] -= largest;
      double exponential = Math.exp(row[i]);
      sum += exponential;
      row[i] = logarithm ? row[i] : exponential;
    }
    double logarithmOfSum = Math.log(sum);
    for (int i = 0; i < row.length; i++) {
      row[i] = logarithm ? row[i] - logarithmOfSum : row[i] / sum;
    }
  }
}
