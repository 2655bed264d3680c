package io.partita.ir.op;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Operations along axes: each element of the result depends on a whole line of the operand. */
public sealed interface Reduction extends Op {
  private static Shape reduced(TensorType type, List<Integer> axes, boolean keepDims) {
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < type.rank(); axis++) {
      if (!axes.contains(axis)) {
        dims.add(type.dim(axis));
      } else if (keepDims) {
        dims.add(Dim.ONE);
      }
    }
    return new Shape(dims);
  }

  /** Reduces all elements along {@code axes}, which are distinct and ascending. */
  record Reduce(ReductionKind reduction, List<Integer> axes, boolean keepDims)
      implements Reduction {
    public Reduce {
      axes = List.copyOf(axes);
    }

    @Override
    public String mnemonic() {
      return "reduce_" + reduction.text();
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integers("axes", axes);
      attributes.flag("keep_dims", keepDims);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      int previous = -1;
      for (int axis : axes) {
        Require.axis(axis, type.rank());
        Require.that(axis > previous, "distinct axes in ascending order", axes);
        previous = axis;
      }
      return List.of(type.with(reduced(type, axes, keepDims)));
    }
  }

  /** The index of the largest or smallest element along an axis, as i64. */
  record ArgReduce(boolean largest, int axis, boolean keepDims, boolean selectLast)
      implements Reduction {
    @Override
    public String mnemonic() {
      return largest ? "arg_max" : "arg_min";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.flag("keep_dims", keepDims);
      attributes.flag("select_last", selectLast);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      Require.axis(axis, type.rank());
      return List.of(new TensorType(ElementType.I64, reduced(type, List.of(axis), keepDims)));
    }
  }

  /** Running sum or product along an axis. */
  record Cumulative(boolean product, int axis, boolean exclusive, boolean reverse)
      implements Reduction {
    @Override
    public String mnemonic() {
      return product ? "cumulative_product" : "cumulative_sum";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.flag("exclusive", exclusive);
      attributes.flag("reverse", reverse);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      Require.axis(axis, operands.getFirst().rank());
      return List.of(operands.getFirst());
    }
  }

  /**
   * The {@code k} largest or smallest elements along an axis in order, equal ones by ascending
   * index; results are the values and their indices (i64).
   */
  record TopK(Dim k, int axis, boolean largest) implements Reduction {
    public TopK(long k, int axis, boolean largest) {
      this(Dim.of(k), axis, largest);
    }

    @Override
    public String mnemonic() {
      return "top_k";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.dims("k", List.of(k));
      attributes.integer("axis", axis);
      attributes.flag("largest", largest);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      Require.axis(axis, type.rank());
      Dim extent = type.dim(axis);
      Require.that(
          !k.isStatic() || k.value() >= 0 && (!extent.isStatic() || k.value() <= extent.value()),
          "k from 0 to " + extent,
          k);
      Shape shape = type.shape().with(axis, k);
      return List.of(type.with(shape), new TensorType(ElementType.I64, shape));
    }
  }

  /** {@code e^(x-max) / Σ e^(x-max)} along an axis, or the logarithm of it. */
  record Softmax(int axis, boolean logarithm) implements Reduction {
    @Override
    public String mnemonic() {
      return logarithm ? "log_softmax" : "softmax";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      Require.axis(axis, type.rank());
      Require.that(type.element().isFloat(), "a floating-point operand", type);
      return List.of(type);
    }
  }
}
