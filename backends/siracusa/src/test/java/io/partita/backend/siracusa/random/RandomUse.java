package io.partita.backend.siracusa.random;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Random uses of a value: views, operations with views of itself or with other values, and states.
 * All are exact, or as exact as the value.
 */
final class RandomUse {
  private static final long MAX_ELEMENTS = 4000;

  private final Draw draw;
  private final GraphBuilder builder;
  private final String prefix;
  private final Function<Tensor, Value> leaf;
  private final List<Module.State> states = new ArrayList<>();
  private int outputs;

  /**
   * @param leaf an input or a constant
   */
  RandomUse(Draw draw, GraphBuilder builder, String prefix, Function<Tensor, Value> leaf) {
    this.draw = draw;
    this.builder = builder;
    this.prefix = prefix;
    this.leaf = leaf;
  }

  List<Module.State> states() {
    return states;
  }

  /** Outputs the value, a use of it, or both. */
  void of(Value value) {
    boolean isSeen = draw.oneIn(3);
    if (isSeen) {
      output(value);
    }
    Value last = value;
    for (int steps = draw.from(isSeen ? 1 : 0, 4); steps > 0; steps--) {
      last = step(last);
    }
    if (draw.oneIn(6)) {
      last = kept(last);
    }
    output(last);
  }

  private void output(Value value) {
    builder.output(prefix + "output_" + outputs++, value);
  }

  private Value step(Value value) {
    TensorType type = value.type();
    int rank = type.rank();
    if (type.shape().elements() > MAX_ELEMENTS) {
      return sliced(value);
    }
    return switch (draw.from(0, 12)) {
      case 0 -> builder.add(new Movement.Transpose(permutation(rank)), value);
      case 1 -> builder.add(new Movement.Reshape(RandomShapes.other(type.shape(), draw)), value);
      case 2 -> builder.add(widened(type.shape()), value);
      case 3 -> sliced(value);
      case 4 -> rank == 0 ? value : joined(value);
      case 5 -> type.element() == ElementType.F32 ? unary(value) : value;
      case 6 -> padded(value);
      case 7, 8 -> combined(value, moved(value));
      case 9 -> rank == 0 ? value : gathered(value);
      case 10 -> rank == 0 || isEmpty(type) ? value : reduced(value);
      case 11 -> cast(value);
      default -> rank < 2 || isEmpty(type) ? value : updated(value);
    };
  }

  private static boolean isEmpty(TensorType type) {
    return type.shape().elements() == 0;
  }

  private Value unary(Value value) {
    return builder.add(
        new Elementwise.Unary(draw.one(UnaryFunction.NEG, UnaryFunction.ABS, UnaryFunction.RELU)),
        value);
  }

  private List<Integer> permutation(int rank) {
    List<Integer> permutation = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
    for (int i = rank - 1; i > 0; i--) {
      Collections.swap(permutation, i, draw.from(0, i));
    }
    return permutation;
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
    int axis = draw.from(0, value.type().rank() - 1);
    Value other = draw.flag() ? value : other(value.type());
    return draw.flag()
        ? builder.add(new Movement.Concat(axis), value, other)
        : builder.add(new Movement.Concat(axis), other, value);
  }

  private Value other(TensorType type) {
    return leaf.apply(SampleValues.value(type, draw));
  }

  private Value padded(Value value) {
    TensorType type = value.type();
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (Dim dim : type.shape().dims()) {
      low.add((long) draw.from(dim.value() > 1 ? -1 : 0, 2));
      high.add((long) draw.from(0, 2));
    }
    Tensor one = Tensor.scalar(type.element(), 1);
    Value padding = draw.flag() ? builder.constant(one) : leaf.apply(one);
    return builder.add(new Movement.Pad(Movement.PadMode.CONSTANT, low, high), value, padding);
  }

  /** Moves its elements. */
  private Value moved(Value value) {
    Shape shape = value.type().shape();
    if (shape.rank() == 0 || isEmpty(value.type())) {
      return value;
    }
    int axis = draw.from(0, shape.rank() - 1);
    return switch (draw.from(0, 4)) {
      case 0 -> value;
      case 1 -> {
        List<Integer> permutation = permutation(shape.rank());
        boolean fits = shape.dims().equals(permutation.stream().map(shape::dim).toList());
        yield fits ? builder.add(new Movement.Transpose(permutation), value) : value;
      }
      case 2 -> part(value, axis, shape.extent(axis) - 1, shape.extent(axis), -1);
      case 3 -> {
        long first = draw.from(0, (int) shape.extent(axis));
        Value head = part(value, axis, 0, first, 1);
        Value tail = part(value, axis, first, shape.extent(axis) - first, 1);
        yield builder.add(new Movement.Concat(axis), tail, head);
      }
      default ->
          builder.add(
              new Movement.Broadcast(shape),
              part(value, axis, draw.from(0, (int) shape.extent(axis) - 1), 1, 1));
    };
  }

  private Value part(Value value, int axis, long start, long size, long step) {
    List<Dim> sizes = new ArrayList<>(value.type().shape().dims());
    List<Dim> starts = new ArrayList<>(Collections.nCopies(sizes.size(), Dim.ZERO));
    List<Long> steps = new ArrayList<>(Collections.nCopies(sizes.size(), 1L));
    starts.set(axis, Dim.of(start));
    sizes.set(axis, Dim.of(size));
    steps.set(axis, step);
    return builder.add(new Movement.Slice(starts, sizes, steps), value);
  }

  /** Combines two values of equal type. */
  private Value combined(Value one, Value two) {
    ElementType element = one.type().element();
    if (draw.oneIn(4)) {
      Shape shape = draw.broadcastingTo(one.type().shape());
      return builder.add(
          new Elementwise.Select(), other(new TensorType(ElementType.BOOL, shape)), one, two);
    }
    BinaryFunction function =
        element == ElementType.BOOL
            ? draw.one(BinaryFunction.AND, BinaryFunction.OR, BinaryFunction.XOR)
            : element.isFloat()
                ? draw.one(BinaryFunction.MAX, BinaryFunction.MIN, BinaryFunction.MUL)
                : draw.one(
                    BinaryFunction.ADD,
                    BinaryFunction.SUB,
                    BinaryFunction.MUL,
                    BinaryFunction.MAX,
                    BinaryFunction.BIT_XOR);
    return draw.flag()
        ? builder.add(new Elementwise.Binary(function), one, two)
        : builder.add(new Elementwise.Binary(function), two, one);
  }

  private Value gathered(Value value) {
    int axis = draw.from(0, value.type().rank() - 1);
    long extent = value.type().shape().extent(axis);
    if (extent == 0) {
      return value;
    }
    long[] indices = new long[draw.from(1, 4)];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = draw.from((int) -extent, (int) extent - 1);
    }
    TensorType type = TensorType.of(draw.index(), indices.length);
    return builder.add(new Movement.Gather(axis), value, leaf.apply(Tensor.ofLongs(type, indices)));
  }

  private Value reduced(Value value) {
    ElementType element = value.type().element();
    if (element == ElementType.BOOL) {
      return value;
    }
    return builder.add(
        new Reduction.Reduce(
            draw.one(ReductionKind.MAX, ReductionKind.MIN),
            draw.axes(value.type().rank()),
            draw.flag()),
        value);
  }

  /** Casts integers, and other types without loss. */
  private Value cast(Value value) {
    ElementType from = value.type().element();
    ElementType to =
        switch (from) {
          case F32 -> ElementType.F64;
          // Wider types have a bound that 16 bits don't meet.
          case F64, F16, BF16 -> from;
          case BOOL -> draw.one(ElementType.U8, ElementType.I4, ElementType.F32, ElementType.I64);
          case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4 -> draw.integer();
        };
    return builder.add(new Elementwise.Cast(to), value);
  }

  /** Scatters rows of another value. */
  private Value updated(Value value) {
    TensorType type = value.type();
    int axis = draw.from(1, type.rank() - 1);
    long extent = type.shape().extent(axis);
    long rows = draw.from(1, (int) extent);
    long[] positions = new long[(int) type.shape().extent(0)];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = draw.from(0, (int) (extent - rows));
    }
    TensorType own = type.with(type.shape().with(axis, Dim.of(rows)));
    Value places =
        leaf.apply(Tensor.ofLongs(TensorType.of(ElementType.I64, positions.length), positions));
    return builder.add(
        new Structured.CacheUpdate(axis, draw.flag()),
        draw.flag() ? value : other(type),
        draw.flag() ? other(own) : part(value, axis, 0, rows, 1),
        places);
  }

  /** Combines it with the state of the last run, and stores the result. */
  private Value kept(Value value) {
    TensorType type = value.type();
    String name = prefix + "state_" + states.size();
    Value before = builder.input(name, type);
    Value after =
        switch (draw.from(0, 3)) {
          case 0 -> combined(before, value);
          case 1 -> {
            int axis = Math.max(0, type.rank() - 1);
            boolean shifts = type.rank() > 0 && type.shape().extent(axis) > 1;
            long extent = shifts ? type.shape().extent(axis) : 0;
            yield shifts
                ? builder.add(
                    new Movement.Concat(axis),
                    part(before, axis, 1, extent - 1, 1),
                    part(value, axis, 0, 1, 1))
                : value;
          }
          case 2 -> type.rank() < 2 || isEmpty(type) ? value : updated(before);
          default -> combined(moved(before), value);
        };
    builder.output(name + "_after", after);
    states.add(new Module.State(name, name + "_after"));
    Value last = draw.flag() ? after : combined(moved(before), value);
    if (draw.flag()) {
      output(moved(before));
    }
    return last;
  }
}
