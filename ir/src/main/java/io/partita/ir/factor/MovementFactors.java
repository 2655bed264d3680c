package io.partita.ir.factor;

import io.partita.ir.factor.Factor.Use;
import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.function.Combine;
import io.partita.ir.op.Movement;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Rules of movements: dimensions that keep the order of elements are parallel, and movements are
 * linear.
 */
final class MovementFactors {
  private MovementFactors() {}

  static FactorRule rule(Movement op, List<TensorType> operands, TensorType result) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case Movement.Reshape reshape -> ReshapeFactors.rule(x.shape(), result.shape());
      case Movement.Transpose transpose -> transpose(transpose, x);
      case Movement.Broadcast broadcast -> broadcast(x, result);
      case Movement.Slice slice -> slice(slice, x);
      case Movement.Concat concat -> concat(concat.axis(), operands, result);
      case Movement.Pad pad -> pad(pad, x, result);
      case Movement.Gather gather -> gather(gather.axis(), x, operands.get(1));
      case Movement.GatherElements gather -> gatherElements(gather.axis(), x, operands.get(1));
      case Movement.GatherNd gather -> gatherNd(gather.batchDims(), x, operands.get(1));
      case Movement.ScatterElements(int axis, Combine reduction) ->
          scatterElements(axis, reduction, x, operands.get(1));
      case Movement.ScatterNd(Combine reduction) -> scatterNd(reduction, x, operands);
    };
  }

  static Linearity moved() {
    return Linearity.of(Linearity.ANY, Set.of(0));
  }

  private static FactorRule transpose(Movement.Transpose op, TensorType x) {
    Builder rule = new Builder();
    int[] dims = rule.parallel(x.shape());
    rule.operand(dims);
    return rule.result(op.permutation().stream().mapToInt(axis -> dims[axis]).toArray())
        .finish(moved());
  }

  private static FactorRule broadcast(TensorType x, TensorType result) {
    Builder rule = new Builder();
    int[] dims = rule.parallel(result.shape());
    return rule.broadcast(x, dims).result(dims).finish(moved());
  }

  /**
   * If only a part is taken, the operand is whole, but a device may compute only its part of the
   * result.
   */
  private static FactorRule slice(Movement.Slice op, TensorType x) {
    Builder rule = new Builder();
    int[] from = new int[x.rank()];
    int[] to = new int[x.rank()];
    for (int dim = 0; dim < from.length; dim++) {
      if (takesAll(op, x, dim)) {
        from[dim] = rule.parallel(x.dim(dim));
        to[dim] = from[dim];
      } else {
        from[dim] = rule.whole(x.dim(dim));
        to[dim] = rule.parallel(op.sizes().get(dim));
      }
    }
    return rule.operand(from).result(to).finish(moved());
  }

  static boolean takesAll(Movement.Slice op, TensorType x, int dim) {
    return op.steps().get(dim) == 1
        && op.starts().get(dim).is(0)
        && op.sizes().get(dim).equals(x.dim(dim));
  }

  private static FactorRule concat(int axis, List<TensorType> operands, TensorType result) {
    Builder rule = new Builder();
    int[] dims = rule.parallel(result.shape().with(axis, io.partita.ir.type.Dim.ONE));
    for (TensorType operand : operands) {
      int[] own = dims.clone();
      own[axis] = rule.whole(operand.dim(axis));
      rule.operand(own);
    }
    int[] joined = dims.clone();
    joined[axis] = rule.whole(result.dim(axis));
    return rule.result(joined).finish(FactorRules.eachOf(operands.size(), Linearity.ANY));
  }

  private static FactorRule pad(Movement.Pad op, TensorType x, TensorType result) {
    Builder rule = new Builder();
    int[] from = new int[x.rank()];
    int[] to = new int[x.rank()];
    for (int dim = 0; dim < from.length; dim++) {
      boolean unchanged = op.low().get(dim) == 0 && op.high().get(dim) == 0;
      from[dim] = unchanged ? rule.parallel(x.dim(dim)) : rule.whole(x.dim(dim));
      to[dim] = unchanged ? from[dim] : rule.whole(result.dim(dim));
    }
    rule.operand(from);
    boolean constant = op.mode() == Movement.PadMode.CONSTANT;
    if (constant) {
      rule.operand();
    }
    return rule.result(to).finish(FactorRules.eachOf(constant ? 2 : 1, Linearity.ANY));
  }

  /** {@code [o r i] [p] -> [o p i]}, r summed: devices without the indexed row contribute zeros. */
  static FactorRule gather(int axis, TensorType data, TensorType indices) {
    Builder rule = new Builder();
    int[] dims = new int[data.rank()];
    for (int dim = 0; dim < dims.length; dim++) {
      boolean summed = dim == axis && data.element() != ElementType.BOOL;
      Use use = summed ? Use.SUM : dim == axis ? Use.WHOLE : Use.PARALLEL;
      dims[dim] = rule.factor(use, data.dim(dim));
    }
    int[] places = rule.parallel(indices.shape());
    List<Integer> result = new ArrayList<>();
    for (int dim = 0; dim < dims.length; dim++) {
      if (dim == axis) {
        Arrays.stream(places).forEach(result::add);
      } else {
        result.add(dims[dim]);
      }
    }
    return rule.operand(dims)
        .operand(places)
        .result(result.stream().mapToInt(Integer::intValue).toArray())
        .finish(moved());
  }

  /** Data and indices share a dimension only if its extents are equal. */
  private static FactorRule gatherElements(int axis, TensorType data, TensorType indices) {
    Builder rule = new Builder();
    int[] from = new int[data.rank()];
    int[] places = new int[data.rank()];
    alignElements(rule, axis, data, indices, from, places);
    return rule.operand(from).operand(places).result(places).finish(moved());
  }

  private static void alignElements(
      Builder rule, int axis, TensorType data, TensorType indices, int[] from, int[] places) {
    for (int dim = 0; dim < from.length; dim++) {
      if (dim != axis && data.dim(dim).equals(indices.dim(dim))) {
        from[dim] = rule.parallel(data.dim(dim));
        places[dim] = from[dim];
      } else {
        from[dim] = rule.whole(data.dim(dim));
        // Each index along the axis is looked up separately; along others, the position itself is
        // an index.
        places[dim] = dim == axis ? rule.parallel(indices.dim(dim)) : rule.whole(indices.dim(dim));
      }
    }
  }

  /** {@code [b t… i] [b p k] -> [b p i]}: index tuples into t. */
  private static FactorRule gatherNd(int batch, TensorType data, TensorType indices) {
    Builder rule = new Builder();
    int tuple = (int) indices.shape().fromEnd(0).value();
    int[] from = new int[data.rank()];
    int[] places = new int[indices.rank()];
    for (int dim = 0; dim < batch; dim++) {
      boolean same = data.dim(dim).equals(indices.dim(dim));
      places[dim] = same ? rule.parallel(indices.dim(dim)) : rule.whole(indices.dim(dim));
      from[dim] = same ? places[dim] : rule.whole(data.dim(dim));
    }
    for (int dim = batch; dim < places.length - 1; dim++) {
      places[dim] = rule.parallel(indices.dim(dim));
    }
    places[places.length - 1] = rule.whole(indices.shape().fromEnd(0));
    int[] result = Arrays.copyOf(places, places.length - 1 + data.rank() - batch - tuple);
    for (int dim = batch; dim < from.length; dim++) {
      boolean indexed = dim < batch + tuple;
      from[dim] = indexed ? rule.whole(data.dim(dim)) : rule.parallel(data.dim(dim));
      if (!indexed) {
        result[places.length - 1 + dim - batch - tuple] = from[dim];
      }
    }
    return rule.operand(from).operand(places).result(result).finish(moved());
  }

  /** Several updates may have the same target, so each device needs all updates of a line. */
  private static FactorRule scatterElements(
      int axis, Combine reduction, TensorType data, TensorType indices) {
    Builder rule = new Builder();
    int[] to = new int[data.rank()];
    int[] places = new int[data.rank()];
    alignElements(rule, axis, data, indices, to, places);
    places[axis] = rule.whole(indices.dim(axis));
    return rule.operand(to).operand(places).operand(places).result(to).finish(scattered(reduction));
  }

  private static FactorRule scatterNd(
      Combine reduction, TensorType data, List<TensorType> operands) {
    Builder rule = new Builder();
    TensorType indices = operands.get(1);
    int tuple = (int) indices.shape().fromEnd(0).value();
    int[] to = new int[data.rank()];
    for (int dim = 0; dim < to.length; dim++) {
      to[dim] = dim < tuple ? rule.whole(data.dim(dim)) : rule.parallel(data.dim(dim));
    }
    int[] places = rule.whole(indices.shape());
    int outer = places.length - 1;
    int[] updates = Arrays.copyOf(places, outer + to.length - tuple);
    System.arraycopy(to, tuple, updates, outer, to.length - tuple);
    return rule.operand(to)
        .operand(places)
        .operand(updates)
        .result(to)
        .finish(scattered(reduction));
  }

  private static Linearity scattered(Combine reduction) {
    return switch (reduction) {
      case REPLACE -> Linearity.of(Linearity.ANY, Set.of(0), Set.of(2));
      case ADD -> Linearity.of(Linearity.SUM, Set.of(0), Set.of(2));
      case MUL, MIN, MAX -> Linearity.NONE;
    };
  }
}
