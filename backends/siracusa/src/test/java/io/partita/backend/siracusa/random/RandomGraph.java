package io.partita.backend.siracusa.random;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.UnaryFunction;
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
import java.util.stream.IntStream;

/**
 * A small graph that a seed stands for: an operation on views of views of inputs and constants, and
 * views of what it gives. An operand is drawn first and its views are found backwards from it, so
 * that indices stay inside what they count in.
 */
final class RandomGraph {
  private static final List<Class<? extends Op>> KINDS =
      OpSamples.kinds().stream()
          .filter(kind -> !Source.class.isAssignableFrom(kind))
          .filter(kind -> !Communication.class.isAssignableFrom(kind))
          .toList();

  private final Draw draw;
  private final GraphBuilder builder;
  private final String prefix;
  private final Map<String, Tensor> inputs = new LinkedHashMap<>();
  private final List<Value> leaves = new ArrayList<>();
  private int outputs;

  private RandomGraph(long seed, GraphBuilder builder) {
    this.draw = new Draw(seed * 0x9e3779b97f4a7c15L);
    this.builder = builder;
    this.prefix = "graph_" + seed + "_";
  }

  /**
   * Adds the graph of a seed to what is being built.
   *
   * @return its inputs, in the order in which they were added
   */
  static Map<String, Tensor> add(long seed, GraphBuilder builder) {
    RandomGraph graph = new RandomGraph(seed, builder);
    graph.draw();
    return graph.inputs;
  }

  private void draw() {
    OpSample sample;
    do {
      sample = SampleValues.draw(draw.one(KINDS), draw);
    } while (!isDefined(sample));
    List<Tensor> operands = SampleValues.operands(sample, draw);
    if (sample.op() instanceof Structured.CacheUpdate(int axis, boolean circular)) {
      long last = operands.get(0).shape().extent(axis) - operands.get(1).shape().extent(axis);
      Tensor positions = operands.get(2);
      long[] values = new long[positions.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = Math.min(positions.getLong(i), last);
      }
      operands.set(2, Tensor.ofLongs(positions.type(), values));
    }
    List<Value> values = new ArrayList<>();
    for (Tensor operand : operands) {
      values.add(source(operand, draw.from(0, 3)));
    }
    Node node = builder.addNode(sample.op(), values);
    for (Value result : node.results()) {
      use(result);
    }
  }

  private static boolean isDefined(OpSample sample) {
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

  /** A value that is a tensor, or one like it with some elements repeated. */
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

  /** Of what it is at the first index. */
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

  /** A tensor of which the slice is what is wanted; elsewhere it has elements of that, too. */
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
    Tensor inner = wanted.reshaped(otherShape(wanted.shape()));
    return builder.add(new Movement.Reshape(wanted.shape()), source(inner, depth - 1));
  }

  /** Neighbours joined, or a dimension taken apart, and ones put in between. */
  private Shape otherShape(Shape shape) {
    List<Dim> dims = new ArrayList<>(shape.dims());
    for (int change = draw.from(1, 3); change > 0; change--) {
      int axis = dims.isEmpty() ? 0 : draw.from(0, dims.size() - 1);
      switch (draw.from(0, 2)) {
        case 0 -> {
          if (axis + 1 < dims.size()) {
            dims.set(axis, dims.get(axis).times(dims.remove(axis + 1)));
          }
        }
        case 1 -> {
          if (!dims.isEmpty() && dims.size() < 5) {
            long extent = dims.get(axis).value();
            long factor = draw.one(2L, 3L, extent);
            if (factor > 0 && extent % factor == 0) {
              dims.set(axis, Dim.of(factor));
              dims.add(axis + 1, Dim.of(extent / factor));
            }
          }
        }
        default -> {
          if (dims.size() < 5) {
            dims.add(axis, Dim.ONE);
          }
        }
      }
    }
    return new Shape(dims);
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

  /** Functions that are exact, and keep what counts as an index. */
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

  /** It, views of it, or both are outputs. */
  private void use(Value value) {
    boolean isSeen = draw.oneIn(3);
    if (isSeen) {
      output(value);
    }
    Value last = value;
    for (int steps = draw.from(isSeen ? 1 : 0, 3); steps > 0; steps--) {
      last = step(last);
    }
    output(last);
  }

  private void output(Value value) {
    builder.output(prefix + "output_" + outputs++, value);
  }

  private Value step(Value value) {
    TensorType type = value.type();
    return switch (draw.from(0, 6)) {
      case 0 -> builder.add(new Movement.Transpose(permutation(type.rank())), value);
      case 1 -> builder.add(new Movement.Reshape(otherShape(type.shape())), value);
      case 2 -> builder.add(widened(type.shape()), value);
      case 3 -> sliced(value);
      case 4 -> joined(value);
      case 5 ->
          type.element() == ElementType.F32
              ? builder.add(new Elementwise.Unary(UnaryFunction.NEG), value)
              : value;
      default -> padded(value);
    };
  }

  private Movement.Broadcast widened(Shape shape) {
    List<Dim> dims = new ArrayList<>();
    if (shape.rank() < 5 && draw.flag()) {
      dims.add(Dim.of(draw.from(1, 3)));
    }
    shape.dims().forEach(dim -> dims.add(dim.is(1) && draw.flag() ? Dim.of(3) : dim));
    return new Movement.Broadcast(new Shape(dims));
  }

  private Value sliced(Value value) {
    List<Dim> starts = new ArrayList<>();
    List<Dim> sizes = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    for (Dim dim : value.type().shape().dims()) {
      long extent = dim.value();
      long size = extent == 0 || draw.oneIn(20) ? 0 : draw.from(1, (int) extent);
      long step = size > 0 && (size - 1) * 2 < extent && draw.oneIn(3) ? 2 : 1;
      long reach = Math.max(0, size - 1) * step;
      boolean isBackwards = size > 0 && draw.oneIn(4);
      long start = size == 0 ? 0 : draw.from(0, (int) (extent - 1 - reach));
      starts.add(Dim.of(isBackwards ? start + reach : start));
      sizes.add(Dim.of(size));
      steps.add(isBackwards ? -step : step);
    }
    return builder.add(new Movement.Slice(starts, sizes, steps), value);
  }

  private Value joined(Value value) {
    int rank = value.type().rank();
    if (rank == 0) {
      return value;
    }
    int axis = draw.from(0, rank - 1);
    Value other = draw.flag() ? value : leaf(SampleValues.value(value.type(), draw));
    return draw.flag()
        ? builder.add(new Movement.Concat(axis), value, other)
        : builder.add(new Movement.Concat(axis), other, value);
  }

  private Value padded(Value value) {
    TensorType type = value.type();
    if (type.element() != ElementType.F32) {
      return value;
    }
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (Dim dim : type.shape().dims()) {
      low.add((long) draw.from(dim.value() > 1 ? -1 : 0, 2));
      high.add((long) draw.from(0, 2));
    }
    Value padding = builder.constant(Tensor.scalar(ElementType.F32, 0.5));
    return builder.add(new Movement.Pad(Movement.PadMode.CONSTANT, low, high), value, padding);
  }
}
