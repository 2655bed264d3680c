package io.partita.ir.op;

import io.partita.ir.function.Combine;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Operations that move elements without computing, except for the reductions of a scatter. */
public sealed interface Movement extends Op {
  /** The same elements in row-major order under another shape. */
  record Reshape(Shape to) implements Movement {
    @Override
    public String mnemonic() {
      return "reshape";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.shape("to", to);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      if (!type.shape().size().equals(to.size())) {
        throw new TypeMismatch(
            "a shape of " + type.shape().size() + " elements, as " + type.shape() + " has",
            to + " with " + to.size(),
            List.of(new TypeMismatch.Equation(type.shape().size(), to.size())));
      }
      return List.of(type.with(to));
    }
  }

  /** Result dimension {@code i} is operand dimension {@code permutation[i]}. */
  record Transpose(List<Integer> permutation) implements Movement {
    public Transpose {
      permutation = List.copyOf(permutation);
    }

    @Override
    public String mnemonic() {
      return "transpose";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integers("permutation", permutation);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      boolean[] seen = new boolean[type.rank()];
      boolean isPermutation = permutation.size() == type.rank();
      for (int axis : permutation) {
        isPermutation = isPermutation && axis >= 0 && axis < seen.length && !seen[axis];
        if (isPermutation) {
          seen[axis] = true;
        }
      }
      Require.that(isPermutation, "a permutation of " + type.rank() + " axes", permutation);
      return List.of(type.with(new Shape(permutation.stream().map(type::dim).toList())));
    }
  }

  /** Stretches extents of 1, and adds outer dimensions, by NumPy's rule. */
  record Broadcast(Shape to) implements Movement {
    @Override
    public String mnemonic() {
      return "broadcast";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.shape("to", to);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      Require.broadcastsTo(operands.getFirst().shape(), to);
      return List.of(operands.getFirst().with(to));
    }
  }

  /**
   * Selects {@code sizes} elements of each axis, beginning at {@code starts}, {@code steps} apart;
   * a step may be negative.
   */
  record Slice(List<Dim> starts, List<Dim> sizes, List<Long> steps) implements Movement {
    public Slice {
      starts = List.copyOf(starts);
      sizes = List.copyOf(sizes);
      steps = List.copyOf(steps);
    }

    @Override
    public String mnemonic() {
      return "slice";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.dims("starts", starts);
      attributes.dims("sizes", sizes);
      attributes.longs("steps", steps);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      Require.that(
          starts.size() == type.rank()
              && sizes.size() == type.rank()
              && steps.size() == type.rank(),
          "a start, a size and a step for each of " + type.rank() + " axes",
          starts.size() + ", " + sizes.size() + ", " + steps.size());
      for (int axis = 0; axis < type.rank(); axis++) {
        if (!sizes.get(axis).is(0)) {
          Dim last = starts.get(axis).plus(sizes.get(axis).plus(-1).times(Dim.of(steps.get(axis))));
          requireWithin(starts.get(axis), type.dim(axis), axis);
          requireWithin(last, type.dim(axis), axis);
        }
      }
      return List.of(type.with(new Shape(sizes)));
    }

    private static void requireWithin(Dim index, Dim extent, int axis) {
      if (index.isStatic() && extent.isStatic()) {
        Require.that(
            index.value() >= 0 && index.value() < extent.value(),
            "an index below " + extent + " on axis " + axis,
            index);
      }
    }
  }

  /** Concatenates operands that differ only in the extent of {@code axis}. */
  record Concat(int axis) implements Movement {
    @Override
    public String mnemonic() {
      return "concat";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.that(!operands.isEmpty(), "at least one operand", "none");
      TensorType first = operands.getFirst();
      Require.axis(axis, first.rank());
      Dim extent = Dim.ZERO;
      for (TensorType operand : operands) {
        String expected = "operands with the shape of " + first + " except for axis " + axis;
        Require.that(
            operand.rank() == first.rank() && operand.element() == first.element(),
            expected,
            operand);
        Require.equal(
            operand.shape().with(axis, Dim.ONE),
            first.shape().with(axis, Dim.ONE),
            expected,
            operand);
        extent = extent.plus(operand.dim(axis));
      }
      return List.of(first.with(first.shape().with(axis, extent)));
    }
  }

  /** The elements that {@link Pad} writes outside the operand. */
  enum PadMode {
    /** The value of the second operand, a scalar. */
    CONSTANT,
    /** Mirrored at the border, without repeating its element. */
    REFLECT,
    /** The border's element. */
    EDGE,
    /** Periodic: from the other end. */
    WRAP
  }

  /**
   * Adds {@code low} and {@code high} elements at the ends of each axis; negative numbers remove
   * elements.
   */
  record Pad(PadMode mode, List<Long> low, List<Long> high) implements Movement {
    public Pad {
      low = List.copyOf(low);
      high = List.copyOf(high);
    }

    @Override
    public String mnemonic() {
      return "pad";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.word("mode", mode.name().toLowerCase(java.util.Locale.ROOT));
      attributes.longs("low", low);
      attributes.longs("high", high);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, mode == PadMode.CONSTANT ? 2 : 1);
      TensorType type = operands.getFirst();
      if (mode == PadMode.CONSTANT) {
        Require.sameElement(type, operands.get(1));
        Require.rank(operands.get(1), 0, "a padding value");
      }
      Require.that(
          low.size() == type.rank() && high.size() == type.rank(),
          "two paddings per axis of " + type.rank() + " axes",
          low.size() + " and " + high.size());
      List<Dim> dims = new ArrayList<>();
      for (int axis = 0; axis < type.rank(); axis++) {
        Dim dim = type.dim(axis).plus(low.get(axis)).plus(high.get(axis));
        Require.that(!dim.isStatic() || dim.value() >= 0, "an extent of 0 or more", dim);
        dims.add(dim);
      }
      return List.of(type.with(new Shape(dims)));
    }
  }

  /**
   * {@code result[…, i…, …] = data[…, indices[i…], …]} with the dimensions of the indices in place
   * of {@code axis}. A negative index counts from the end.
   */
  record Gather(int axis) implements Movement {
    @Override
    public String mnemonic() {
      return "gather";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType data = operands.get(0);
      Require.axis(axis, data.rank());
      Require.index(operands.get(1), "indices");
      Shape shape =
          data.shape()
              .range(0, axis)
              .concat(operands.get(1).shape())
              .concat(data.shape().range(axis + 1, data.rank()));
      return List.of(data.with(shape));
    }
  }

  /** {@code result[i, j] = data[indices[i, j], j]} for axis 0, and so on; ONNX GatherElements. */
  record GatherElements(int axis) implements Movement {
    @Override
    public String mnemonic() {
      return "gather_elements";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      Require.axis(axis, operands.get(0).rank());
      Require.index(operands.get(1), "indices");
      Require.rank(operands.get(1), operands.get(0).rank(), "indices");
      return List.of(operands.get(0).with(operands.get(1).shape()));
    }
  }

  /** The last dimension of the indices is an index tuple into the data; ONNX GatherND. */
  record GatherNd(int batchDims) implements Movement {
    @Override
    public String mnemonic() {
      return "gather_nd";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("batch_dims", batchDims);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType data = operands.get(0);
      TensorType indices = operands.get(1);
      Require.index(indices, "indices");
      Require.atLeastRank(indices, 1, "indices");
      Require.that(
          batchDims >= 0 && batchDims < indices.rank() && indices.shape().fromEnd(0).isStatic(),
          "a static last dimension of the indices after " + batchDims + " batch dimensions",
          indices);
      int tuple = Math.toIntExact(indices.shape().fromEnd(0).value());
      Require.that(
          tuple <= data.rank() - batchDims, "index tuples no longer than the data's rank", tuple);
      return List.of(
          data.with(
              indices
                  .shape()
                  .range(0, indices.rank() - 1)
                  .concat(data.shape().range(batchDims + tuple, data.rank()))));
    }
  }

  /**
   * A copy of the data with {@code data[indices[i, j], j] = updates[i, j]} for axis 0, and so on.
   */
  record ScatterElements(int axis, Combine reduction) implements Movement {
    @Override
    public String mnemonic() {
      return "scatter_elements";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.word("reduction", reduction.name().toLowerCase(java.util.Locale.ROOT));
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType data = operands.get(0);
      Require.axis(axis, data.rank());
      Require.index(operands.get(1), "indices");
      Require.sameElement(data, operands.get(2));
      String expected = "indices and updates of equal shape and of the data's rank";
      String found = operands.get(1) + " and " + operands.get(2);
      Require.that(operands.get(1).rank() == data.rank(), expected, found);
      Require.equal(operands.get(1).shape(), operands.get(2).shape(), expected, found);
      return List.of(data);
    }
  }

  /** A copy of the data with slices replaced at index tuples; ONNX ScatterND. */
  record ScatterNd(Combine reduction) implements Movement {
    @Override
    public String mnemonic() {
      return "scatter_nd";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.word("reduction", reduction.name().toLowerCase(java.util.Locale.ROOT));
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType data = operands.get(0);
      TensorType indices = operands.get(1);
      Require.index(indices, "indices");
      Require.sameElement(data, operands.get(2));
      Require.that(
          indices.rank() >= 1 && indices.shape().fromEnd(0).isStatic(),
          "a static last dimension",
          indices);
      int tuple = Math.toIntExact(indices.shape().fromEnd(0).value());
      Require.that(tuple <= data.rank(), "index tuples no longer than the data's rank", tuple);
      Shape expected =
          indices
              .shape()
              .range(0, indices.rank() - 1)
              .concat(data.shape().range(tuple, data.rank()));
      Require.equal(operands.get(2).shape(), expected, "updates " + expected, operands.get(2));
      return List.of(data);
    }
  }
}
