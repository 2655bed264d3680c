package io.partita.ir.factor;

import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Rules of operations that begin or end a variation: elements keep their positions, except in a
 * stack.
 */
final class VariationFactors {
  private VariationFactors() {}

  static FactorRule rule(Communication.Variation op, List<TensorType> operands, TensorType result) {
    Builder rule = new Builder();
    TensorType x = operands.getFirst();
    return switch (op) {
      case Communication.Localize localize -> same(rule, x);
      case Communication.Overlay overlay -> overlay(rule, x, overlay.dim());
      case Communication.Fork fork -> {
        int[] dims = rule.parallel(x.shape());
        yield rule.operand(dims)
            .operand(dims)
            .operand(rule.whole(operands.get(2).dim(0)))
            .result(dims)
            .finish(Linearity.NONE);
      }
      case Communication.Settle(var axis, Exit.Stack stack) -> stack(rule, x, result);
      case Communication.Settle(var axis, Exit.Priority priority) -> {
        int[] dims = rule.parallel(x.shape());
        yield rule.operand(dims)
            .operand(rule.whole(operands.get(1).dim(0)))
            .result(dims)
            .finish(Linearity.of(Linearity.SUM, Set.of(0)));
      }
      case Communication.Settle settle -> same(rule, x);
    };
  }

  /** A gate moves no element. */
  static FactorRule gate(TensorType x) {
    Builder rule = new Builder();
    int[] dims = rule.parallel(x.shape());
    return rule.operand(dims).operand().result(dims).finish(Linearity.of(Linearity.SUM, Set.of(0)));
  }

  private static FactorRule same(Builder rule, TensorType x) {
    int[] dims = rule.parallel(x.shape());
    return rule.operand(dims).result(dims).finish(Linearity.of(Linearity.SUM, Set.of(0)));
  }

  /** The overlaid dimension is split in the second operand only. */
  private static FactorRule overlay(Builder rule, TensorType x, int dim) {
    int[] own = rule.parallel(x.shape());
    int[] whole = own.clone();
    whole[dim] = rule.whole(x.dim(dim));
    return rule.operand(whole).operand(own).result(whole).finish(Linearity.NONE);
  }

  private static FactorRule stack(Builder rule, TensorType x, TensorType result) {
    int[] dims = rule.parallel(x.shape());
    int[] stacked = new int[dims.length + 1];
    stacked[0] = rule.whole(result.dim(0));
    System.arraycopy(dims, 0, stacked, 1, dims.length);
    return rule.operand(dims).result(stacked).finish(Linearity.of(Linearity.SUM, Set.of(0)));
  }

  /** Computes a device's part of a result. */
  static Value local(
      GraphBuilder builder,
      Communication.Variation op,
      FactorSplits splits,
      int device,
      List<Value> operands) {
    Value x = operands.getFirst();
    int place = splits.mesh().coordinate(device, op.axis());
    int devices = splits.mesh().size(op.axis());
    return switch (op) {
      case Communication.Localize localize -> x;
      case Communication.Overlay overlay ->
          overlay(
              builder,
              x,
              operands.getLast(),
              overlay.dim(),
              splits.operand(1).from(device, overlay.dim()));
      case Communication.Fork fork ->
          builder.add(
              new Elementwise.Select(),
              flag(builder, operands.getLast(), place),
              x,
              operands.get(1));
      case Communication.Settle(var axis, Exit exit) ->
          switch (exit) {
            case Exit.Take take -> x;
            case Exit.Term term -> x;
            case Exit.Part part -> x;
            case Exit.Average average -> share(builder, x, devices);
            case Exit.Stack stack -> {
              List<Dim> dims = new ArrayList<>(List.of(Dim.ONE));
              dims.addAll(x.type().shape().dims());
              yield builder.add(new Movement.Reshape(new Shape(dims)), x);
            }
            case Exit.Priority priority -> chosen(builder, x, operands.getLast(), place, devices);
          };
    };
  }

  private static Value overlay(GraphBuilder builder, Value base, Value own, int dim, long from) {
    long extent = own.type().dim(dim).value();
    long to = from + extent;
    long all = base.type().dim(dim).value();
    if (extent == all) {
      return own;
    }
    List<Value> pieces = new ArrayList<>();
    if (from > 0) {
      pieces.add(slice(builder, base, dim, 0, from));
    }
    if (extent > 0) {
      pieces.add(own);
    }
    if (to < all) {
      pieces.add(slice(builder, base, dim, to, all - to));
    }
    return builder.add(new Movement.Concat(dim), pieces);
  }

  private static Value slice(GraphBuilder builder, Value value, int dim, long from, long size) {
    List<Dim> starts = new ArrayList<>(Collections.nCopies(value.type().rank(), Dim.of(0)));
    List<Dim> sizes = new ArrayList<>(value.type().shape().dims());
    starts.set(dim, Dim.of(from));
    sizes.set(dim, Dim.of(size));
    List<Long> steps = Collections.nCopies(value.type().rank(), 1L);
    return builder.add(new Movement.Slice(starts, sizes, steps), value);
  }

  /** Computes x / n, instead of x times a rounded 1 / n. */
  private static Value share(GraphBuilder builder, Value x, int devices) {
    Value count = builder.constant(Tensor.scalar(x.type().element(), devices));
    return builder.add(new Elementwise.Binary(BinaryFunction.DIV), x, count);
  }

  /**
   * Returns the value if this device is the first accepted one, or the last device if none is
   * accepted; else zeros.
   */
  private static Value chosen(
      GraphBuilder builder, Value x, Value accepted, int place, int devices) {
    Value chosen = place < devices - 1 ? flag(builder, accepted, place) : null;
    for (int before = 0; before < place; before++) {
      Value refused =
          builder.add(new Elementwise.Unary(UnaryFunction.NOT), flag(builder, accepted, before));
      chosen =
          chosen == null
              ? refused
              : builder.add(new Elementwise.Binary(BinaryFunction.AND), chosen, refused);
    }
    if (chosen == null) {
      return x;
    }
    Value zero = builder.constant(Tensor.filled(TensorType.scalar(x.type().element()), 0));
    return builder.add(new Elementwise.Select(), chosen, x, zero);
  }

  private static Value flag(GraphBuilder builder, Value accepted, int place) {
    Value one = slice(builder, accepted, 0, place, 1);
    return builder.add(new Movement.Reshape(new Shape(List.of())), one);
  }
}
