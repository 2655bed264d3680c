package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.IntStream;

/**
 * Sums in which each device adds a share of the features. It adds in f32 what is encoded again: a
 * chip may skip roundings to bf16, and what it sends must not depend on that.
 */
final class ScatteredSums {
  private final SumSync sync;
  private final FeatureRanges ranges;
  private final Layout base;
  private final ElementType result;
  private final LowBitArithmetic arithmetic;
  private final GraphEditor graph;
  private final int places;
  private final int devices;
  private final List<Integer> features;

  /** The number of features of a share; the last ones may be padding. */
  private final int each;

  private final long rows;
  private final List<Dim> shares;

  /**
   * @param base the layout of the sum's operand
   * @param result the type of the sums
   * @param features the features to add
   */
  ScatteredSums(
      SumSync sync,
      FeatureRanges ranges,
      Layout base,
      ElementType result,
      LowBitArithmetic arithmetic,
      List<Integer> features) {
    this.sync = sync;
    this.ranges = ranges;
    this.base = base;
    this.result = result;
    this.arithmetic = arithmetic;
    this.graph = arithmetic.graph();
    this.places = sync.axes().size();
    this.devices = sync.places();
    this.features = features;
    this.each = Math.ceilDiv(features.size(), devices);
    this.rows = sync.type().shape().elements() / sync.features();
    this.shares = sync.sizes().stream().map(Dim::of).toList();
  }

  /**
   * The sums of terms that travel as codes.
   *
   * @param terms the terms {@code [places..., ..., features]}, each on its device
   */
  Value coded(Value terms) {
    BitPacking packing = new BitPacking(arithmetic.bits(), rows * each);
    Value scale =
        byFeature(terms.type().rank(), 0, (place, j) -> arithmetic.scale(ranges.bound(place, j)));
    Value codes = byShare(arithmetic.quantised(terms, scale));
    Value packed = packing.pack(flat(codes), arithmetic);
    Value received = packing.unpack(exchanged(packed), arithmetic);
    Value decoded =
        arithmetic.values(
            unflat(received, places),
            byFeature(
                2 * places + 2, places, (place, j) -> arithmetic.step(ranges.bound(place, j))));
    Value sums = arithmetic.sum(decoded, places, ElementType.F32);
    Value again = arithmetic.quantised(sums, ofSums(j -> arithmetic.scale(ranges.sumBound(j))));
    Value all = packing.unpack(collected(packing.pack(flat(again), arithmetic)), arithmetic);
    Value values =
        arithmetic.values(unflat(all, 0), wholeSums(j -> arithmetic.step(ranges.sumBound(j))));
    return whole(arithmetic.cast(values, result));
  }

  /** The sums of terms that travel as bf16. */
  Value exact(Value terms) {
    Value received = exchanged(flat(byShare(terms)));
    Value sums =
        arithmetic.cast(
            arithmetic.sum(unflat(received, places), places, ElementType.F32), ElementType.BF16);
    return whole(arithmetic.cast(unflat(collected(flat(sums)), 0), result));
  }

  /** Reshapes {@code [..., ..., features]} to {@code [..., shares..., rows, each]}. */
  private Value byShare(Value value) {
    Value padded =
        BitPacking.pad(
            value,
            (long) each * devices - features.size(),
            graph.constant(Tensor.scalar(value.type().element(), 0)),
            graph);
    List<Dim> dims = new ArrayList<>(shares);
    dims.add(Dim.of(rows));
    dims.addAll(shares);
    dims.add(Dim.of(each));
    Value lines = graph.add(new Movement.Reshape(new Shape(dims)), padded);
    List<Integer> order = new ArrayList<>(IntStream.range(0, places).boxed().toList());
    IntStream.rangeClosed(places + 1, 2 * places).forEach(order::add);
    order.add(places);
    order.add(2 * places + 1);
    return graph.add(new Movement.Transpose(order), lines);
  }

  /** {@code [..., rows, each]} to {@code [..., rows each]}. */
  private Value flat(Value value) {
    int rank = value.type().rank();
    List<Dim> dims = new ArrayList<>(value.type().shape().dims().subList(0, rank - 2));
    dims.add(Dim.of(rows * each));
    return graph.add(new Movement.Reshape(new Shape(dims)), value);
  }

  /** The inverse, of {@code [more..., shares..., rows each]}. */
  private Value unflat(Value value, int more) {
    List<Dim> dims = new ArrayList<>(value.type().shape().dims().subList(0, more + places));
    dims.add(Dim.of(rows));
    dims.add(Dim.of(each));
    return graph.add(new Movement.Reshape(new Shape(dims)), value);
  }

  /** Sends shares from the devices of terms to the devices of shares. */
  private Value exchanged(Value value) {
    return SumTerms.sync(
        sync,
        value,
        SumTerms.layout(sync, base, value.type().rank()),
        sharesAt(value.type().rank(), places),
        graph);
  }

  /** Sends shares from their devices to all. */
  private Value collected(Value value) {
    int rank = value.type().rank();
    return SumTerms.sync(
        sync,
        value,
        sharesAt(value.type().rank(), 0),
        Layout.replicated(base.mesh(), rank).withAt(base.at()),
        graph);
  }

  private Layout sharesAt(int rank, int from) {
    List<Split> splits = new ArrayList<>(Collections.nCopies(rank, Split.NONE));
    for (int i = 0; i < places; i++) {
      splits.set(from + i, Split.even(base.mesh(), sync.sizes().get(i), sync.axes().get(i)));
    }
    return Layout.replicated(base.mesh(), rank).with(splits).withAt(base.at());
  }

  /** {@code [shares..., rows, each]} to {@code [..., features]} of the sum. */
  private Value whole(Value sums) {
    List<Integer> order = new ArrayList<>(List.of(places));
    IntStream.range(0, places).forEach(order::add);
    order.add(places + 1);
    Value lines = graph.add(new Movement.Transpose(order), sums);
    Shape flat = Shape.of(rows, (long) each * devices);
    Value features = graph.add(new Movement.Reshape(flat), lines);
    Value cut = BitPacking.slice(features, 0, this.features.size(), graph);
    Shape shape = sync.type().shape();
    Shape of = shape.with(shape.rank() - 1, Dim.of(this.features.size()));
    return graph.add(new Movement.Reshape(of), cut);
  }

  /** Constants of places and features for {@code [places..., ..., features]} of terms. */
  private Value byFeature(int rank, int from, ToDoubleBiFunction<Integer, Integer> value) {
    if (from == 0) {
      Layout layout = SumTerms.layout(sync, base, rank);
      Tensor all = arithmetic.constants(sync, features, rank, value);
      return graph.add(new Communication.Reshard(layout), graph.constant(all));
    }
    double[] data = new double[devices * devices * each];
    for (int place = 0; place < devices; place++) {
      for (int j = 0; j < features.size(); j++) {
        data[place * devices * each + j] = value.applyAsDouble(place, features.get(j));
      }
    }
    List<Dim> dims = new ArrayList<>(shares);
    dims.addAll(shares);
    dims.add(Dim.ONE);
    dims.add(Dim.of(each));
    return graph.add(
        new Communication.Reshard(sharesAt(rank, from)),
        graph.constant(Tensor.ofDoubles(type(dims), data)));
  }

  private Value ofSums(IntToDoubleFunction value) {
    return graph.add(new Communication.Reshard(sharesAt(places + 2, 0)), wholeSums(value));
  }

  private Value wholeSums(IntToDoubleFunction value) {
    double[] data = new double[devices * each];
    for (int j = 0; j < features.size(); j++) {
      data[j] = value.applyAsDouble(features.get(j));
    }
    List<Dim> dims = new ArrayList<>(shares);
    dims.add(Dim.ONE);
    dims.add(Dim.of(each));
    return graph.constant(Tensor.ofDoubles(type(dims), data));
  }

  private static TensorType type(List<Dim> dims) {
    return new TensorType(ElementType.F32, new Shape(dims));
  }
}
