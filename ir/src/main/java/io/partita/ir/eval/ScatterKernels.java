package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Copies of a tensor with elements updated at given positions, one after the other. */
final class ScatterKernels {
  private ScatterKernels() {}

  static Tensor elements(Combine reduction, int axis, Tensor data, Tensor indices, Tensor updates) {
    int[] targets = MovementKernels.elementOffsets(data.shape(), indices, axis, "scatter_elements");
    return write(reduction, data, targets, 1, updates);
  }

  static Tensor slices(Combine reduction, Tensor data, Tensor indices, Tensor updates) {
    int tuple = (int) indices.shape().fromEnd(0).value();
    int run = Math.toIntExact(data.shape().range(tuple, data.shape().rank()).elements());
    int[] targets = Positions.tuples(indices, data.shape(), 0, "scatter_nd");
    return write(reduction, data, targets, run, updates);
  }

  /** ONNX TensorScatter: {@code [outer…, extent, inner…]} with the first axis as batch. */
  static Tensor cacheUpdate(Tensor cache, Tensor update, Tensor start, int axis, boolean circular) {
    Shape shape = cache.shape();
    int batches = (int) shape.extent(0);
    int outer = Math.toIntExact(shape.range(1, axis).elements());
    int inner = Math.toIntExact(shape.range(axis + 1, shape.rank()).elements());
    int extent = (int) shape.extent(axis);
    int added = (int) update.shape().extent(axis);
    RawElements result = RawElements.copyOf(cache);
    RawElements source = RawElements.of(update);
    for (int row = 0; row < batches * outer; row++) {
      long first = start.getLong(row / outer);
      for (int i = 0; i < added; i++) {
        long place = circular && extent > 0 ? Math.floorMod(first + i, extent) : first + i;
        int position = Positions.inside(place, extent, "cache_update");
        result.copyRun(source, (row * added + i) * inner, (row * extent + position) * inner, inner);
      }
    }
    return result.toTensor(cache.type());
  }

  private static Tensor write(
      Combine reduction, Tensor data, int[] targets, int run, Tensor updates) {
    if (reduction.function().isEmpty()) {
      RawElements result = RawElements.copyOf(data);
      RawElements source = RawElements.of(updates);
      for (int i = 0; i < targets.length; i++) {
        result.copyRun(source, i * run, targets[i], run);
      }
      return result.toTensor(data.type());
    }
    return data.element().isFloat()
        ? joinFloats(reduction.function().get(), data, targets, run, updates)
        : joinIntegers(reduction.function().get(), data, targets, run, updates);
  }

  private static Tensor joinFloats(
      BinaryFunction function, Tensor data, int[] targets, int run, Tensor updates) {
    DoubleBinaryOperator join = BinaryFunctions.ofDouble(function);
    double[] result = data.doubles().clone();
    double[] values = updates.doubles();
    for (int i = 0; i < targets.length; i++) {
      for (int j = 0; j < run; j++) {
        double joined = join.applyAsDouble(result[targets[i] + j], values[i * run + j]);
        result[targets[i] + j] = BinaryFunctions.round(data.element(), joined);
      }
    }
    return Tensor.ofDoubles(data.type(), result);
  }

  private static Tensor joinIntegers(
      BinaryFunction function, Tensor data, int[] targets, int run, Tensor updates) {
    LongBinaryOperator join = BinaryFunctions.ofLong(function, data.element());
    long[] result = data.longs().clone();
    long[] values = updates.longs();
    for (int i = 0; i < targets.length; i++) {
      for (int j = 0; j < run; j++) {
        result[targets[i] + j] = join.applyAsLong(result[targets[i] + j], values[i * run + j]);
      }
    }
    // Wrapping a sum of several terms is equivalent to wrapping each of them.
    return Tensor.ofLongs(data.type(), result);
  }
}
