package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.List;

/** Convolutions as matrix products over unrolled windows, their transposes, and pooling. */
final class ConvolutionKernels {
  /** The largest number of elements that are unrolled at a time. */
  private static final int UNROLLED = 1 << 21;

  private ConvolutionKernels() {}

  static Tensor convolution(Contraction.Convolution op, List<Tensor> operands, TensorType type) {
    Tensor data = operands.get(0);
    Tensor weight = operands.get(1);
    int groups = Math.toIntExact(op.groups());
    int filters = (int) weight.shape().extent(0) / groups;
    int channels = (int) weight.shape().extent(1);
    WindowOrigins origins = origins(op.window(), data.shape(), type.shape());
    int places = origins.placeCount();
    int kernel = origins.kernelCount();
    int depth = channels * kernel;
    int block = Math.clamp(UNROLLED / Math.max(1, depth), 1, Math.max(1, places));
    int blocks = (places + block - 1) / block;
    int images = (int) data.shape().extent(0) * groups;
    RawElements source = RawElements.of(data);
    RawElements target =
        RawElements.zeros(type.element(), Math.toIntExact(type.shape().elements()));
    ParallelTasks.run(
        images * blocks,
        type.shape().elements() * depth,
        task -> {
          int image = task / blocks;
          int from = task % blocks * block;
          int to = Math.min(places, from + block);
          Tensor columns = unrolled(source, image * channels, channels, origins, from, to, data);
          MatrixKernels.Product product =
              new MatrixKernels.Product(
                  new TensorType(type.element(), Shape.of(filters, to - from)));
          long first = (long) (image % groups) * filters * depth;
          product.multiply(
              new Matrix(weight, first, filters, depth, false),
              new Matrix(columns, 0, depth, to - from, false),
              0);
          RawElements sums = RawElements.of(product.tensor());
          for (int filter = 0; filter < filters; filter++) {
            int start = (image * filters + filter) * places + from;
            target.copyRun(sums, filter * (to - from), start, to - from);
          }
        });
    return withBias(target.toTensor(type), operands);
  }

  private static WindowOrigins origins(Window window, Shape over, Shape places) {
    return new WindowOrigins(window, over.range(2, over.rank()), places.range(2, places.rank()));
  }

  /** {@code [channels · kernel, places]}: the data under each element of the window. */
  private static Tensor unrolled(
      RawElements source,
      int channel,
      int channels,
      WindowOrigins origins,
      int from,
      int to,
      Tensor x) {
    int kernels = origins.kernelCount();
    int width = to - from;
    int plane = Math.toIntExact(origins.spatial().elements());
    RawElements columns = RawElements.zeros(x.element(), channels * kernels * width);
    for (int kernel = 0; kernel < kernels; kernel++) {
      int[] under = origins.of(kernel, from, to);
      for (int c = 0; c < channels; c++) {
        copyRuns(source, (channel + c) * plane, under, columns, (c * kernels + kernel) * width);
      }
    }
    return columns.toTensor(
        new TensorType(x.element(), Shape.of((long) channels * kernels, width)));
  }

  private static void copyRuns(
      RawElements source, int start, int[] under, RawElements target, int to) {
    int place = 0;
    while (place < under.length) {
      int end = place + 1;
      if (under[place] >= 0) {
        while (end < under.length && under[end] == under[end - 1] + 1) {
          end++;
        }
        if (end == place + 1) {
          target.copy(source, start + under[place], to + place);
        } else {
          target.copyRun(source, start + under[place], to + place, end - place);
        }
      }
      place = end;
    }
  }

  private static Tensor withBias(Tensor result, List<Tensor> operands) {
    if (operands.size() < 3) {
      return result;
    }
    long[] extents = new long[result.shape().rank() - 1];
    Arrays.fill(extents, 1);
    extents[0] = operands.get(2).size();
    Tensor bias = operands.get(2).reshaped(Shape.of(extents));
    return ElementwiseKernels.binary(BinaryFunction.ADD, result, bias, result.type());
  }

  /** Sums are kept in double and rounded once. */
  static Tensor transposed(
      Contraction.TransposedConvolution op, List<Tensor> operands, TensorType type) {
    Tensor data = operands.get(0);
    Shape weight = operands.get(1).shape();
    int groups = Math.toIntExact(op.groups());
    int channels = (int) weight.extent(0) / groups;
    int filters = (int) weight.extent(1);
    // The window slides over the result, and its positions are the elements of the data.
    WindowOrigins origins = origins(op.window(), type.shape(), data.shape());
    int places = origins.placeCount();
    int kernels = origins.kernelCount();
    int plane = Math.toIntExact(origins.spatial().elements());
    double[] x = data.doubles();
    double[] w = operands.get(1).doubles();
    double[] out = new double[Math.toIntExact(type.shape().elements())];
    int images = (int) data.shape().extent(0) * groups;
    for (int kernel = 0; kernel < kernels; kernel++) {
      int element = kernel;
      int[] onto = origins.of(kernel, 0, places);
      ParallelTasks.run(
          images * filters,
          (long) images * filters * channels * places,
          task -> {
            int image = task / filters;
            int filter = task % filters;
            for (int c = 0; c < channels; c++) {
              int row = image % groups * channels + c;
              double factor = w[(row * filters + filter) * kernels + element];
              int from = (image * channels + c) * places;
              for (int place = 0; place < places; place++) {
                if (onto[place] >= 0) {
                  out[task * plane + onto[place]] += x[from + place] * factor;
                }
              }
            }
          });
    }
    return withBias(Tensor.ofDoubles(type, out), operands);
  }

  static List<Tensor> pool(Contraction.Pool pool, Tensor x, List<TensorType> types) {
    Shape spatial = x.shape().range(2, x.shape().rank());
    Shape slid = types.getFirst().shape().range(2, x.shape().rank());
    WindowReach reach = new WindowReach(pool.window(), spatial, slid);
    int places = Math.toIntExact(slid.elements());
    int plane = Math.toIntExact(spatial.elements());
    int results = Math.toIntExact(types.getFirst().shape().elements());
    long steps = (long) results * Math.min(plane, elements(pool.window()));
    if (!pool.largest()) {
      double[] values = x.doubles();
      double[] means = new double[results];
      ParallelTasks.run(
          results,
          steps,
          i -> means[i] = mean(values, i / places * plane, reach, i % places, pool.countPadding()));
      return List.of(Tensor.ofDoubles(types.getFirst(), means));
    }
    long[] keys = SortKeys.of(x);
    long[] chosen = new long[results];
    ParallelTasks.run(
        results, steps, i -> chosen[i] = largest(keys, i / places * plane, reach, i % places));
    Tensor largest = taken(x, chosen, types.getFirst());
    return pool.indices()
        ? List.of(largest, Tensor.ofLongs(types.get(1), chosen))
        : List.of(largest);
  }

  /** The elements of a window, or the largest number. */
  private static long elements(Window window) {
    long elements = 1;
    for (long extent : window.kernel()) {
      elements = extent > Long.MAX_VALUE / elements ? Long.MAX_VALUE : elements * extent;
    }
    return elements;
  }

  private static double mean(
      double[] values, int start, WindowReach reach, int place, boolean countPadding) {
    double[] sum = new double[1];
    reach.each(place, origin -> sum[0] += values[start + origin]);
    return sum[0] / (countPadding ? reach.counted(place) : reach.inData(place));
  }

  /** Returns the index of the first largest element, or -1 if there is only padding. */
  private static long largest(long[] keys, int start, WindowReach reach, int place) {
    int[] best = {-1};
    reach.each(
        place,
        origin -> {
          if (best[0] < 0 || keys[start + origin] > keys[best[0]]) {
            best[0] = start + origin;
          }
        });
    return best[0];
  }

  private static Tensor taken(Tensor x, long[] positions, TensorType type) {
    RawElements source = RawElements.of(x);
    RawElements target = RawElements.zeros(type.element(), positions.length);
    RawElements least = RawElements.of(least(x.element()));
    for (int i = 0; i < positions.length; i++) {
      if (positions[i] >= 0) {
        target.copy(source, (int) positions[i], i);
      } else {
        target.copy(least, 0, i);
      }
    }
    return target.toTensor(type);
  }

  private static Tensor least(ElementType element) {
    return element.isFloat()
        ? Tensor.scalar(element, Double.NEGATIVE_INFINITY)
        : Tensor.ofLongs(TensorType.scalar(element), new long[] {element.minimum()});
  }
}
