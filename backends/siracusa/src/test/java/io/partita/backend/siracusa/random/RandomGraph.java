package io.partita.backend.siracusa.random;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A small random graph of a seed: an operation on views of inputs and constants, and {@link
 * RandomUse uses} of its results. Operands are chosen first and their views backwards from them, so
 * that indices remain in range.
 */
final class RandomGraph {
  private static final List<Class<? extends Op>> KINDS = kinds();

  /** The largest size of operands and results, so that evaluation and builds are fast. */
  private static final long MAX_ELEMENTS = 6000;

  private final Draw draw;
  private final GraphBuilder builder;
  private final String prefix;
  private final Map<String, Tensor> inputs = new LinkedHashMap<>();
  private final List<Value> leaves = new ArrayList<>();

  private RandomGraph(long seed, GraphBuilder builder) {
    long mixed = seed * 0x9e3779b97f4a7c15L;
    this.draw = new Draw(mixed, extents(new Draw(~mixed)));
    this.builder = builder;
    this.prefix = "graph_" + seed + "_";
  }

  /** Functions of one and two operands are many, and all of one kind. */
  private static List<Class<? extends Op>> kinds() {
    List<Class<? extends Op>> kinds = new ArrayList<>();
    for (Class<? extends Op> kind : OpSamples.kinds()) {
      boolean isFunction = kind == Elementwise.Unary.class || kind == Elementwise.Binary.class;
      boolean isOther =
          Communication.class.isAssignableFrom(kind)
              || kind == Source.Constant.class
              || kind == Source.Extent.class;
      kinds.addAll(Collections.nCopies(isOther ? 0 : isFunction ? 4 : 1, kind));
    }
    return kinds;
  }

  /** Returns small, odd, empty or long extents. */
  private static List<Long> extents(Draw draw) {
    return switch (draw.from(0, 6)) {
      case 0, 1, 2 -> List.of();
      case 3, 4 -> List.of(1L, 2L, 3L, 5L, 7L, 9L, 16L, 17L);
      case 5 -> List.of(1L, 1L, 2L, 3L, 4L, draw.one(37L, 130L, 513L, 1501L));
      default -> List.of(0L, 1L, 2L, 3L, 5L);
    };
  }

  /**
   * @param inputs the inputs that aren't states, by name, in order of addition
   */
  record Added(Map<String, Tensor> inputs, List<Module.State> states) {}

  /** Adds the graph of a seed to a builder. */
  static Added add(long seed, GraphBuilder builder) {
    RandomGraph graph = new RandomGraph(seed, builder);
    RandomUse use = new RandomUse(graph.draw, builder, graph.prefix, graph::leaf);
    graph.draw().results().forEach(use::of);
    return new Added(graph.inputs, use.states());
  }

  private Node draw() {
    OpSample sample;
    List<Tensor> operands = List.of();
    do {
      sample = SampleValues.draw(draw.one(KINDS), draw);
      if (isDefined(sample)) {
        operands = operands(sample);
      }
    } while (!isDefined(sample) || !gives(sample.op(), operands));
    List<Value> values = new ArrayList<>();
    for (Tensor operand : operands) {
      values.add(source(operand, draw.from(0, 3)));
    }
    return builder.addNode(sample.op(), values);
  }

  private List<Tensor> operands(OpSample sample) {
    List<Tensor> operands = SampleValues.operands(sample, draw);
    switch (sample.op()) {
      case Structured.CacheUpdate(int axis, boolean circular) -> {
        long last = operands.get(0).shape().extent(axis) - operands.get(1).shape().extent(axis);
        replace(operands, 2, position -> Math.min(position, last));
      }
      case Movement.Gather(int axis) -> countFromEnd(operands, axis);
      case Movement.GatherElements(int axis) -> countFromEnd(operands, axis);
      case Movement.ScatterElements scatter -> countFromEnd(operands, scatter.axis());
      case Op other -> {}
    }
    return operands;
  }

  /** Returns random indices. */
  private void countFromEnd(List<Tensor> operands, int axis) {
    if (draw.flag()) {
      long extent = operands.getFirst().shape().extent(axis);
      replace(operands, 1, index -> draw.flag() ? index - extent : index);
    }
  }

  private static void replace(List<Tensor> operands, int operand, LongUnaryOperator by) {
    Tensor tensor = operands.get(operand);
    long[] values = LongStream.of(tensor.longs()).map(by).toArray();
    operands.set(operand, Tensor.ofLongs(tensor.type(), values));
  }

  /** Whether it is defined; many operations aren't on empty operands. */
  private static boolean gives(Op op, List<Tensor> operands) {
    try {
      OpEvaluator.evaluate(op, operands);
      return true;
    } catch (PartitaException outOfRange) {
      return false;
    } catch (RuntimeException undefined) {
      if (operands.stream().anyMatch(operand -> operand.size() == 0)) {
        return false;
      }
      throw undefined;
    }
  }

  private static boolean isDefined(OpSample sample) {
    boolean isSmall =
        Stream.concat(
                sample.operands().stream(), sample.op().resultTypes(sample.operands()).stream())
            .allMatch(type -> type.shape().elements() <= MAX_ELEMENTS);
    if (!isSmall) {
      return false;
    }
    if (sample.op() instanceof Movement.GatherNd(int batch)) {
      Shape data = sample.operands().get(0).shape();
      return data.range(0, batch).equals(sample.operands().get(1).shape().range(0, batch));
    }
    if (sample.op() instanceof Structured.CacheUpdate(int axis, boolean circular)) {
      return sample.operands().get(0).dim(axis).value()
          >= sample.operands().get(1).dim(axis).value();
    }
    return true;
  }

  /** Returns a value of a tensor, or of one with some repeated elements. */
  private Value source(Tensor wanted, int depth) {
    int rank = wanted.type().rank();
    if (depth == 0) {
      return leaf(wanted);
    }
    return switch (draw.from(0, 8)) {
      case 0 -> rank < 2 ? source(wanted, depth - 1) : transpose(wanted, depth);
      case 1, 2 -> broadcast(wanted, depth);
      case 3 -> rank == 0 ? source(wanted, depth - 1) : slice(wanted, depth);
      case 4 -> reshape(wanted, depth);
      case 5 -> rank == 0 ? source(wanted, depth - 1) : concat(wanted, depth);
      case 6, 7 -> function(wanted, depth);
      default -> leaf(wanted);
    };
  }

  private Value leaf(Tensor wanted) {
    if (draw.oneIn(4)) {
      return builder.constant(wanted);
    }
    for (Value known : leaves) {
      if (known.type().equals(wanted.type()) && wanted.element().isFloat() && draw.flag()) {
        return known;
      }
    }
    String name = prefix + "input_" + inputs.size();
    inputs.put(name, wanted);
    Value value = builder.input(name, wanted.type());
    leaves.add(value);
    return value;
  }

  private static Tensor evaluate(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  private List<Integer> permutation(int rank) {
    List<Integer> permutation = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
    for (int i = rank - 1; i > 0; i--) {
      Collections.swap(permutation, i, draw.from(0, i));
    }
    return permutation;
  }

  private Value transpose(Tensor wanted, int depth) {
    List<Integer> permutation = permutation(wanted.type().rank());
    List<Integer> inverse = new ArrayList<>(permutation);
    for (int i = 0; i < permutation.size(); i++) {
      inverse.set(permutation.get(i), i);
    }
    Tensor inner = evaluate(new Movement.Transpose(inverse), wanted);
    return builder.add(new Movement.Transpose(permutation), source(inner, depth - 1));
  }

  private static Tensor part(Tensor tensor, int axis, long start, long size) {
    List<Dim> starts = new ArrayList<>();
    List<Dim> sizes = new ArrayList<>(tensor.shape().dims());
    for (int i = 0; i < sizes.size(); i++) {
      starts.add(Dim.of(i == axis ? start : 0));
    }
    sizes.set(axis, Dim.of(size));
    return evaluate(
        new Movement.Slice(starts, sizes, Collections.nCopies(sizes.size(), 1L)), tensor);
  }

  /** Broadcasts the part at the first index of some axes. */
  private Value broadcast(Tensor wanted, int depth) {
    Tensor inner = wanted;
    for (int axis = 0; axis < wanted.type().rank(); axis++) {
      if (draw.flag() && wanted.shape().extent(axis) > 0) {
        inner = part(inner, axis, 0, 1);
      }
    }
    while (inner.type().rank() > 0 && inner.shape().extent(0) == 1 && draw.flag()) {
      inner = inner.reshaped(inner.shape().range(1, inner.type().rank()));
    }
    return builder.add(new Movement.Broadcast(wanted.shape()), source(inner, depth - 1));
  }

  private Value slice(Tensor wanted, int depth) {
    List<Dim> starts = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    List<Dim> extents = new ArrayList<>();
    for (Dim dim : wanted.shape().dims()) {
      long size = dim.value();
      long low = draw.from(0, 2);
      long step = draw.one(1L, 1L, 1L, 2L, 3L, -1L, -2L);
      long reach = Math.max(0, size - 1) * Math.abs(step);
      starts.add(Dim.of(step > 0 || size == 0 ? low : low + reach));
      steps.add(step);
      extents.add(Dim.of(low + (size == 0 ? 0 : reach + 1) + draw.from(size == 0 ? 1 : 0, 2)));
    }
    Movement.Slice slice = new Movement.Slice(starts, wanted.shape().dims(), steps);
    Tensor inner = filled(wanted, new Shape(extents), slice);
    return builder.add(slice, source(inner, depth - 1));
  }

  /** Returns a tensor with a given slice, whose other elements are also from the slice. */
  private static Tensor filled(Tensor wanted, Shape shape, Movement.Slice slice) {
    TensorType type = new TensorType(wanted.element(), shape);
    boolean isFloat = type.element().isFloat();
    int size = (int) shape.elements();
    double[] doubles = new double[isFloat ? size : 0];
    long[] longs = new long[isFloat ? 0 : size];
    long[] strides = shape.strides();
    for (int i = 0; i < size && wanted.size() > 0; i++) {
      set(wanted, i % wanted.size(), doubles, longs, i, isFloat);
    }
    for (int i = 0; i < wanted.size(); i++) {
      long at = 0;
      long rest = i;
      for (int axis = shape.rank() - 1; axis >= 0; axis--) {
        long extent = wanted.shape().extent(axis);
        long index = slice.starts().get(axis).value() + rest % extent * slice.steps().get(axis);
        rest /= extent;
        at += index * strides[axis];
      }
      set(wanted, i, doubles, longs, (int) at, isFloat);
    }
    return isFloat ? Tensor.ofDoubles(type, doubles) : Tensor.ofLongs(type, longs);
  }

  private static void set(
      Tensor from, int index, double[] doubles, long[] longs, int to, boolean isFloat) {
    if (isFloat) {
      doubles[to] = from.getDouble(index);
    } else {
      longs[to] = from.getLong(index);
    }
  }

  private Value reshape(Tensor wanted, int depth) {
    Tensor inner = wanted.reshaped(RandomShapes.other(wanted.shape(), draw));
    return builder.add(new Movement.Reshape(wanted.shape()), source(inner, depth - 1));
  }

  private Value concat(Tensor wanted, int depth) {
    int axis = draw.from(0, wanted.type().rank() - 1);
    long extent = wanted.shape().extent(axis);
    if (extent % 2 == 0 && extent > 0 && draw.oneIn(3)) {
      Value half = source(part(wanted, axis, 0, extent / 2), depth - 1);
      return builder.add(new Movement.Concat(axis), half, half);
    }
    List<Value> parts = new ArrayList<>();
    long start = 0;
    for (int count = draw.from(1, 3); count > 0; count--) {
      long size = count == 1 ? extent - start : draw.from(0, (int) (extent - start));
      parts.add(source(part(wanted, axis, start, size), depth - 1));
      start += size;
    }
    return builder.add(new Movement.Concat(axis), parts);
  }

  /** Exact functions that keep indices valid. */
  private Value function(Tensor wanted, int depth) {
    return switch (wanted.element()) {
      case F32 -> {
        if (draw.oneIn(3)) {
          Shape other = draw.broadcastingTo(wanted.shape());
          Tensor added = SampleValues.value(new TensorType(ElementType.F32, other), draw);
          yield builder.add(
              new Elementwise.Binary(draw.one(BinaryFunction.ADD, BinaryFunction.MUL)),
              source(wanted, depth - 1),
              source(added, depth - 1));
        }
        UnaryFunction function = draw.one(UnaryFunction.NEG, UnaryFunction.ABS, UnaryFunction.RELU);
        yield builder.add(new Elementwise.Unary(function), source(wanted, depth - 1));
      }
      case I64 -> cast(wanted, ElementType.I32, depth);
      case I32 -> cast(wanted, ElementType.I64, depth);
      case I8 -> cast(wanted, ElementType.I32, depth);
      case U8 -> cast(wanted, ElementType.U16, depth);
      case I16 -> cast(wanted, ElementType.F32, depth);
      case BOOL -> {
        if (draw.flag()) {
          yield builder.add(new Elementwise.Unary(UnaryFunction.NOT), source(wanted, depth - 1));
        }
        yield cast(wanted, draw.one(ElementType.F32, ElementType.I64, ElementType.U8), depth);
      }
      case F16, BF16 -> cast(wanted, ElementType.F32, depth);
      case F64, U64, U32, U16, U4, I4 -> source(wanted, depth - 1);
    };
  }

  private Value cast(Tensor wanted, ElementType from, int depth) {
    Tensor inner = evaluate(new Elementwise.Cast(from), wanted);
    return builder.add(new Elementwise.Cast(wanted.element()), source(inner, depth - 1));
  }
}
