package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Sums of codes that travel from device to device. At each hop a device decodes the partial sum
 * that it receives, adds its own term and encodes the result, with the measured range of that
 * partial sum. The last device encodes the whole sum, and all devices decode the same codes.
 */
final class HopSums {
  private final SumSync sync;
  private final FeatureRanges ranges;
  private final Layout base;
  private final ElementType result;
  private final LowBitArithmetic arithmetic;
  private final GraphEditor graph;
  private final int places;

  /**
   * @param base the layout of the sum's operand
   * @param result the type of the sums; terms are added in f32, since a chip may skip roundings to
   *     bf16, and codes must not depend on that
   */
  HopSums(
      SumSync sync,
      FeatureRanges ranges,
      Layout base,
      ElementType result,
      LowBitArithmetic arithmetic) {
    this.sync = sync;
    this.ranges = ranges;
    this.base = base;
    this.result = result;
    this.arithmetic = arithmetic;
    this.graph = arithmetic.graph();
    this.places = sync.places();
  }

  /** A sum of some features that is at one place. */
  private record Sum(Value value, int place, List<Integer> features) {}

  /**
   * Adds terms in a binary tree to the first place.
   *
   * @param term the partial {@code f32[..., features]}
   * @param features the features to add
   * @return the sums {@code [..., features.size()]}, on all devices
   */
  Value tree(Value term, List<Integer> features) {
    List<Sum> sums = new ArrayList<>(terms(localized(term), features));
    for (int distance = 1; distance < places; distance *= 2) {
      for (int to = 0; to + distance < places; to += 2 * distance) {
        int from = to + distance;
        boolean isTerm = PartialSums.treeTerms(from, places) == 1;
        IntToDoubleFunction bound = j -> isTerm ? ranges.bound(from, j) : ranges.treeBound(from, j);
        sums.set(to, added(sums.get(from), sums.get(to), bound));
      }
    }
    return everywhere(sums.getFirst());
  }

  /**
   * Adds terms in a ring for each place, each of which gets the sums of a share of the features.
   *
   * @param term the partial {@code f32[..., features]}
   * @param features the features to add
   * @return the sums {@code [..., features.size()]}, on all devices, in the order of {@link
   *     #ringOrder}
   */
  Value ring(Value term, List<Integer> features) {
    Value localized = localized(term);
    List<List<Integer>> shares = shares(features);
    List<List<Sum>> terms = shares.stream().map(share -> terms(localized, share)).toList();
    List<Sum> sums = new ArrayList<>();
    for (int end = 0; end < shares.size(); end++) {
      sums.add(terms.get(end).get((end(shares.get(end)) + 1) % places));
    }
    for (int hop = 1; hop < places; hop++) {
      int count = hop;
      for (int i = 0; i < shares.size(); i++) {
        Sum sum = sums.get(i);
        IntToDoubleFunction bound =
            j -> count == 1 ? ranges.bound(sum.place, j) : ranges.ringBound(count, j);
        sums.set(i, added(sum, terms.get(i).get((sum.place + 1) % places), bound));
      }
    }
    return BitPacking.concat(sums.stream().map(this::everywhere).toList(), graph);
  }

  /** Returns features in the order in which {@link #ring} gives their sums. */
  List<Integer> ringOrder(List<Integer> features) {
    return shares(features).stream().flatMap(List::stream).toList();
  }

  private List<List<Integer>> shares(List<Integer> features) {
    return IntStream.range(0, places)
        .mapToObj(
            place ->
                features.stream().filter(j -> PartialSums.ringEnd(j, places) == place).toList())
        .filter(share -> !share.isEmpty())
        .toList();
  }

  private int end(List<Integer> share) {
    return PartialSums.ringEnd(share.getFirst(), places);
  }

  private Value localized(Value term) {
    Value value = term;
    for (String axis : sync.axes()) {
      value = graph.add(new Communication.Localize(axis), value);
    }
    return value;
  }

  /** Returns the term of each place. */
  private List<Sum> terms(Value localized, List<Integer> features) {
    Value selected = arithmetic.select(localized, features, sync.features());
    Value wide = arithmetic.cast(selected, ElementType.F32);
    List<Sum> terms = new ArrayList<>();
    for (int place = 0; place < places; place++) {
      Value value = wide;
      for (Map.Entry<String, Integer> at : at(place).entrySet()) {
        Exit exit = new Exit.Take(at.getValue());
        value = graph.add(new Communication.Settle(at.getKey(), exit), value);
      }
      terms.add(new Sum(value, place, features));
    }
    return terms;
  }

  private Map<String, Integer> at(int place) {
    Map<String, Integer> at = new LinkedHashMap<>();
    int major = place;
    for (int i = sync.axes().size() - 1; i >= 0; i--) {
      at.put(sync.axes().get(i), major % sync.sizes().get(i));
      major /= sync.sizes().get(i);
    }
    return at;
  }

  private Layout layout(int rank, int place) {
    Map<String, Integer> at = new LinkedHashMap<>(base.at());
    at.putAll(at(place));
    return Layout.replicated(base.mesh(), rank).withAt(at);
  }

  /** Sends a sum to the place of another and adds it there. */
  private Sum added(Sum from, Sum to, IntToDoubleFunction bound) {
    Value packed = packed(from, bound);
    Value received = moved(packed, from, layout(1, to.place));
    Value decoded = decoded(received, from, bound, layout(1, to.place));
    Value sum = arithmetic.binary(BinaryFunction.ADD, to.value, decoded);
    return new Sum(sum, to.place, to.features);
  }

  /** Sends a whole sum to all devices. */
  private Value everywhere(Sum sum) {
    IntToDoubleFunction bound = ranges::sumBound;
    Layout all = Layout.replicated(base.mesh(), 1).withAt(base.at());
    Value decoded = decoded(moved(packed(sum, bound), sum, all), sum, bound, all);
    return arithmetic.cast(decoded, result);
  }

  private Value packed(Sum sum, IntToDoubleFunction bound) {
    LowBitArithmetic here = arithmetic.at(layout(1, sum.place));
    Value scale = constants(sum.features, j -> here.scale(bound.applyAsDouble(j)), here);
    Value line =
        graph.add(new Movement.Reshape(Shape.of(codes(sum))), here.quantised(sum.value, scale));
    return packing(sum).pack(line, here);
  }

  private Value decoded(Value packed, Sum sum, IntToDoubleFunction bound, Layout to) {
    Shape shape = sync.type().shape();
    Shape of = shape.with(shape.rank() - 1, Dim.of(sum.features.size()));
    LowBitArithmetic there = arithmetic.at(to);
    Value line = packing(sum).unpack(packed, there);
    Value codes = graph.add(new Movement.Reshape(of), line);
    Value step = constants(sum.features, j -> there.step(bound.applyAsDouble(j)), there);
    return there.values(codes, step);
  }

  private long codes(Sum sum) {
    return sync.type().shape().elements() / sync.features() * sum.features.size();
  }

  private BitPacking packing(Sum sum) {
    return new BitPacking(arithmetic.bits(), codes(sum));
  }

  private Value moved(Value packed, Sum from, Layout to) {
    Resharding change = new Resharding(layout(1, from.place), to);
    return graph.add(
        new Communication.Sync(change.kinds(), to, Optional.empty(), Codec.EXACT), packed);
  }

  private static Value constants(
      List<Integer> features, IntToDoubleFunction value, LowBitArithmetic at) {
    float[] data = new float[features.size()];
    for (int i = 0; i < data.length; i++) {
      data[i] = (float) value.applyAsDouble(features.get(i));
    }
    return at.constant(Tensor.floats(Shape.of(data.length), data));
  }
}
