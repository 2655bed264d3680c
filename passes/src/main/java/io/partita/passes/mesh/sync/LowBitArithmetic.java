package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleBiFunction;

/**
 * The operations of symmetric quantisation. A value within ±M has the step M / L, L = 2^(b-1) - 1,
 * and the codes 0 to 2L for -L to L steps.
 *
 * @param bits the width of a code
 * @param at the place of the values, if they aren't on all devices
 */
record LowBitArithmetic(int bits, GraphEditor graph, Optional<Layout> at) {
  LowBitArithmetic(int bits, GraphEditor graph) {
    this(bits, graph, Optional.empty());
  }

  /** Returns the same for values at one place. */
  LowBitArithmetic at(Layout layout) {
    return new LowBitArithmetic(bits, graph, Optional.of(layout));
  }

  private double levels() {
    return (1 << (bits - 1)) - 1;
  }

  /** Returns the factor from values within ±bound to steps; 0 if all values are 0. */
  double scale(double bound) {
    return bound > 0 ? levels() / bound : 0;
  }

  double step(double bound) {
    return bound / levels();
  }

  /** Returns the codes of f32 values, as u8. */
  Value quantised(Value value, Value scale) {
    Value steps =
        graph.add(
            new Elementwise.Unary(UnaryFunction.ROUND), binary(BinaryFunction.MUL, value, scale));
    Value most = binary(BinaryFunction.MIN, steps, number(levels()));
    Value within = binary(BinaryFunction.MAX, most, number(-levels()));
    return cast(binary(BinaryFunction.ADD, within, number(levels())), ElementType.U8);
  }

  /** Returns the f32 values of codes. */
  Value values(Value codes, Value step) {
    Value steps = binary(BinaryFunction.SUB, cast(codes, ElementType.F32), number(levels()));
    return binary(BinaryFunction.MUL, steps, step);
  }

  Value cast(Value value, ElementType to) {
    return value.type().element() == to ? value : graph.add(new Elementwise.Cast(to), value);
  }

  Value binary(BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }

  /** Returns some of so many features, of the last dimension. */
  Value select(Value value, List<Integer> chosen, int features) {
    return chosen.size() == features
        ? value
        : graph.add(new Movement.Gather(value.type().rank() - 1), value, indices(chosen));
  }

  Value indices(List<Integer> of) {
    long[] data = of.stream().mapToLong(Integer::longValue).toArray();
    return graph.constant(Tensor.longs(Shape.of(data.length), data));
  }

  /**
   * Sums terms one place after the other.
   *
   * @param terms {@code [places..., ...]}
   * @param places the number of dimensions of places
   * @param type the type in which terms are added
   */
  Value sum(Value terms, int places, ElementType type) {
    List<Dim> all = terms.type().shape().dims();
    int count = Math.toIntExact(terms.type().shape().range(0, places).elements());
    List<Dim> dims = new ArrayList<>(List.of(Dim.of(count)));
    dims.addAll(all.subList(places, all.size()));
    Value line = graph.add(new Movement.Reshape(new Shape(dims)), cast(terms, type));
    Value sum = BitPacking.slice(line, 0, 0, 1, graph);
    for (int place = 1; place < count; place++) {
      sum = binary(BinaryFunction.ADD, sum, BitPacking.slice(line, 0, place, 1, graph));
    }
    Shape shape = new Shape(dims.subList(1, dims.size()));
    return graph.add(new Movement.Reshape(shape), sum);
  }

  /** Returns numbers by place and feature, {@code f32[places..., 1..., features]}. */
  Tensor constants(
      SumSync sync, List<Integer> features, int rank, ToDoubleBiFunction<Integer, Integer> value) {
    double[] data = new double[sync.places() * features.size()];
    for (int place = 0; place < sync.places(); place++) {
      for (int j = 0; j < features.size(); j++) {
        data[place * features.size() + j] = value.applyAsDouble(place, features.get(j));
      }
    }
    List<Dim> dims = new ArrayList<>();
    for (int dim = 0; dim < rank; dim++) {
      dims.add(dim < sync.sizes().size() ? Dim.of(sync.sizes().get(dim)) : Dim.ONE);
    }
    Shape shape = new Shape(dims).with(rank - 1, Dim.of(features.size()));
    return Tensor.ofDoubles(new TensorType(ElementType.F32, shape), data);
  }

  private Value number(double value) {
    return constant(Tensor.scalar(ElementType.F32, value));
  }

  /** Adds a constant where the values are. */
  Value constant(Tensor data) {
    Value everywhere = graph.constant(data);
    return at.isEmpty()
        ? everywhere
        : graph.add(
            new Communication.Reshard(
                Layout.replicated(at.get().mesh(), data.type().rank()).withAt(at.get().at())),
            everywhere);
  }
}
