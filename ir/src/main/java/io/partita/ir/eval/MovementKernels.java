package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Operations that move elements. */
final class MovementKernels {
  private MovementKernels() {}

  static Tensor transpose(Tensor x, List<Integer> permutation, TensorType type) {
    long[] own = x.shape().strides();
    long[] strides = permutation.stream().mapToLong(axis -> own[axis]).toArray();
    return strided(x, 0, strides, type);
  }

  static Tensor broadcast(Tensor x, TensorType type) {
    return strided(x, 0, Lines.broadcastStrides(x.shape(), type.rank()), type);
  }

  static Tensor slice(Movement.Slice slice, Tensor x, TensorType type) {
    if (type.shape().elements() == 0) {
      return RawElements.zeros(type.element(), 0).toTensor(type);
    }
    long[] strides = x.shape().strides();
    long start = 0;
    for (int axis = 0; axis < strides.length; axis++) {
      long first = Bound.value(slice.starts().get(axis), slice.mnemonic());
      long last = first + (type.shape().extent(axis) - 1) * slice.steps().get(axis);
      Positions.inside(first, x.shape().extent(axis), slice.mnemonic());
      Positions.inside(last, x.shape().extent(axis), slice.mnemonic());
      start += first * strides[axis];
      strides[axis] *= slice.steps().get(axis);
    }
    return strided(x, (int) start, strides, type);
  }

  private static Tensor strided(Tensor x, int start, long[] strides, TensorType type) {
    RawElements source = RawElements.of(x);
    RawElements target =
        RawElements.zeros(type.element(), Math.toIntExact(type.shape().elements()));
    Lines lines = new Lines(type.shape().extents(), strides);
    int stride = lines.stride(0);
    lines.forEach(
        (position, offsets, length) ->
            target.copyLine(source, start + offsets[0], stride, position, length));
    return target.toTensor(type);
  }

  static Tensor concat(List<Tensor> operands, int axis, TensorType type) {
    RawElements target =
        RawElements.zeros(type.element(), Math.toIntExact(type.shape().elements()));
    int outer = elements(type.shape().range(0, axis));
    int row = elements(type.shape().range(axis, type.rank()));
    int start = 0;
    for (Tensor operand : operands) {
      RawElements source = RawElements.of(operand);
      int run = elements(operand.shape().range(axis, type.rank()));
      for (int i = 0; i < outer; i++) {
        target.copyRun(source, i * run, i * row + start, run);
      }
      start += run;
    }
    return target.toTensor(type);
  }

  private static int elements(Shape shape) {
    return Math.toIntExact(shape.elements());
  }

  static Tensor pad(Movement.Pad pad, List<Tensor> operands, TensorType type) {
    Tensor x = cropped(operands.getFirst(), pad);
    if (type.shape().elements() == 0) {
      return RawElements.zeros(type.element(), 0).toTensor(type);
    }
    if (pad.mode() == PadMode.CONSTANT) {
      return padConstant(x, operands.get(1), pad, type);
    }
    for (int axis = 0; axis < type.rank(); axis++) {
      int low = Math.toIntExact(Math.max(0, pad.low().get(axis)));
      long extent = x.shape().extent(axis);
      int padded = (int) type.shape().extent(axis);
      if (padded != extent) {
        x = pick(x, axis, origins(pad.mode(), low, (int) extent, padded));
      }
    }
    return x;
  }

  /** Removes elements for negative paddings. */
  private static Tensor cropped(Tensor x, Movement.Pad pad) {
    long[] strides = x.shape().strides();
    long[] extents = x.shape().extents();
    long start = 0;
    for (int axis = 0; axis < extents.length; axis++) {
      long before = Math.max(0, -pad.low().get(axis));
      long after = Math.max(0, -pad.high().get(axis));
      start += before * strides[axis];
      extents[axis] = Math.max(0, extents[axis] - before - after);
    }
    Shape shape = Shape.of(extents);
    return shape.equals(x.shape())
        ? x
        : strided(x, (int) start, strides, new TensorType(x.element(), shape));
  }

  private static Tensor padConstant(Tensor x, Tensor value, Movement.Pad pad, TensorType type) {
    RawElements target = RawElements.zeros(type.element(), elements(type.shape()));
    target.fill(RawElements.of(value));
    RawElements source = RawElements.of(x);
    long[] strides = type.shape().strides();
    long start = 0;
    for (int axis = 0; axis < strides.length; axis++) {
      start += Math.max(0, pad.low().get(axis)) * strides[axis];
    }
    int first = (int) start;
    Lines lines = new Lines(x.shape().extents(), strides);
    int stride = lines.stride(0);
    lines.forEach(
        (position, offsets, length) -> {
          if (stride == 1) {
            target.copyRun(source, position, first + offsets[0], length);
          } else {
            for (int i = 0; i < length; i++) {
              target.copy(source, position + i, first + offsets[0] + i * stride);
            }
          }
        });
    return target.toTensor(type);
  }

  /** Returns the index of the element that each index of a padded axis repeats. */
  private static int[] origins(PadMode mode, int low, int extent, int padded) {
    if (extent == 0) {
      throw new PartitaException(
          EvaluationCode.EMPTY_LINE, "pad", "at least one element", "an empty axis", "");
    }
    int[] origins = new int[padded];
    int period = Math.max(1, 2 * (extent - 1));
    for (int i = 0; i < padded; i++) {
      int place = i - low;
      origins[i] =
          switch (mode) {
            case EDGE -> Math.clamp(place, 0, extent - 1);
            case WRAP -> Math.floorMod(place, extent);
            case REFLECT -> {
              int phase = Math.floorMod(place, period);
              yield Math.min(phase, period - phase);
            }
            case CONSTANT -> throw new AssertionError(mode);
          };
    }
    return origins;
  }

  /** Returns the elements at {@code positions} of an axis. */
  private static Tensor pick(Tensor x, int axis, int[] positions) {
    TensorType type = x.type().with(x.shape().with(axis, Dim.of(positions.length)));
    int outer = elements(x.shape().range(0, axis));
    int inner = elements(x.shape().range(axis + 1, x.shape().rank()));
    int extent = (int) x.shape().extent(axis);
    RawElements source = RawElements.of(x);
    RawElements target = RawElements.zeros(type.element(), elements(type.shape()));
    int to = 0;
    for (int i = 0; i < outer; i++) {
      for (int position : positions) {
        if (inner == 1) {
          target.copy(source, i * extent + position, to);
        } else {
          target.copyRun(source, (i * extent + position) * inner, to, inner);
        }
        to += inner;
      }
    }
    return target.toTensor(type);
  }

  static Tensor gather(Tensor data, Tensor indices, int axis, TensorType type, String where) {
    int[] positions = Positions.along(indices, data.shape().extent(axis), where);
    return pick(data, axis, positions).reshaped(type.shape());
  }

  static Tensor gatherElements(Tensor data, Tensor indices, int axis, TensorType type) {
    int[] origins = elementOffsets(data.shape(), indices, axis, "gather_elements");
    RawElements source = RawElements.of(data);
    RawElements target = RawElements.zeros(type.element(), origins.length);
    for (int i = 0; i < origins.length; i++) {
      target.copy(source, origins[i], i);
    }
    return target.toTensor(type);
  }

  /** Returns the offset in the data of the element of each index. */
  static int[] elementOffsets(Shape data, Tensor indices, int axis, String where) {
    long[] strides = data.strides();
    long axisStride = strides[axis];
    strides[axis] = 0;
    for (int i = 0; i < strides.length; i++) {
      if (i != axis && indices.size() > 0) {
        Positions.inside(indices.shape().extent(i) - 1, data.extent(i), where);
      }
    }
    int[] positions = Positions.along(indices, data.extent(axis), where);
    Lines lines = new Lines(indices.shape().extents(), strides);
    int stride = lines.stride(0);
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            positions[position + i] =
                (int) (positions[position + i] * axisStride) + offsets[0] + i * stride;
          }
        });
    return positions;
  }

  static Tensor gatherNd(Tensor data, Tensor indices, int batchDims, TensorType type) {
    int tuple = (int) indices.shape().fromEnd(0).value();
    int[] offsets = Positions.tuples(indices, data.shape(), batchDims, "gather_nd");
    int run = elements(data.shape().range(batchDims + tuple, data.shape().rank()));
    RawElements target = RawElements.zeros(type.element(), elements(type.shape()));
    if (offsets.length == 0 || run == 0) {
      return target.toTensor(type);
    }
    int batches = elements(indices.shape().range(0, batchDims));
    int dataBatches = elements(data.shape().range(0, batchDims));
    if (batches != dataBatches) {
      throw new PartitaException(
          EvaluationCode.INDEX_OUT_OF_RANGE,
          "gather_nd",
          dataBatches + " batches of indices",
          Integer.toString(batches),
          "give data and indices the same batch dimensions");
    }
    int batch = data.size() / batches;
    int tuples = offsets.length / batches;
    RawElements source = RawElements.of(data);
    for (int i = 0; i < offsets.length; i++) {
      target.copyRun(source, i / tuples * batch + offsets[i], i * run, run);
    }
    return target.toTensor(type);
  }
}
