package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.ModulePass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.IntStream;

/**
 * Sends the terms of sums in low precision, as in "Towards Low-bit Communication for Tensor
 * Parallel LLM Inference", section 3: k features as bf16, the others as codes of symmetric
 * quantisation with a step for each device and feature. Devices gather all terms, decode them,
 * including their own, and add them in the order of devices, so that all hold the same bits.
 *
 * <p>With b bits, a feature that was within ±M on a device has the step M / L, L = 2^(b-1) - 1, and
 * the codes 0 to 2L for -L to L steps. All of this is ordinary operations on terms that are stacked
 * along new dimensions; the messages are bytes, and bf16.
 */
public final class LowBitSyncs implements ModulePass {
  /** The number of features per feature that is sent as bf16. */
  private static final int FEATURES_PER_EXACT = 64;

  /**
   * The encoding of sums.
   *
   * @param blocks the blocks
   * @param bits the bits of a code
   * @param exact the number of features that are sent as bf16; empty for one in 64
   * @param seed the seed of a random selection of these; empty for those of the widest ranges
   * @param sum the type in which terms are added: bf16 or f32
   * @param via the exchange of terms
   */
  public record Options(
      BlockSelection blocks,
      int bits,
      OptionalInt exact,
      OptionalInt seed,
      ElementType sum,
      Via via) {}

  /** The exchange of terms. */
  public enum Via {
    /** Each device gathers the terms of all and adds them, as in the paper. */
    GATHER,
    /**
     * Each device gets the terms of a share of the features from all devices and adds them; the
     * sums are encoded again and gathered. Fewer bytes are sent, but elements are encoded twice.
     */
    SCATTER,
    /**
     * Partial sums travel up a binary tree of devices, and are decoded, added to and encoded again
     * at each level; the codes of the whole sum travel back.
     */
    TREE,
    /**
     * Partial sums of a share of the features travel once around a ring of devices for each share,
     * and are decoded, added to and encoded again at each hop; the codes of the whole sums are sent
     * to all.
     */
    RING;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the one with this text; empty for another text. */
    public static Optional<Via> parse(String text) {
      return Arrays.stream(values()).filter(via -> via.toString().equals(text)).findFirst();
    }

    /** Returns all texts, as in {@code gather, scatter or tree}. */
    public static String choices() {
      List<String> texts = Arrays.stream(values()).map(Via::toString).toList();
      return String.join(", ", texts.subList(0, texts.size() - 1)) + " or " + texts.getLast();
    }
  }

  private final SyncCalibration calibration;
  private final Options options;

  public LowBitSyncs(SyncCalibration calibration, Options options) {
    this.calibration = calibration;
    this.options = options;
  }

  @Override
  public String name() {
    return "low-bit";
  }

  @Override
  public String purpose() {
    return "send terms of sums in few bits, with the ranges of partita calibrate";
  }

  /**
   * @param module a module of the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#LOW_BIT} if the module
   *     has no such sums, or {@link SyncCode#CALIBRATION}
   */
  @Override
  public Module run(Module module) {
    if (module.placement().isEmpty()) {
      throw SyncCode.LOW_BIT.at(
          "pass low-bit", "a distributed module", "one without", "add shard(tensor=N) before it");
    }
    LayoutInference layouts = LayoutInference.of(module);
    List<SumSync> syncs = SumSync.of(module, layouts);
    if (syncs.isEmpty()) {
      throw SyncCode.LOW_BIT.at(
          "pass low-bit", "all-reduces of sums in blocks", "none", "use shard(tensor=N)");
    }
    String mesh = module.placement().orElseThrow().mesh().toString();
    options.blocks().require("pass low-bit, option blocks", syncs.getLast().block() + 1);
    List<SumSync> chosen =
        syncs.stream()
            .filter(sync -> options.blocks().contains(sync.block()))
            .filter(sync -> ((Communication.Sync) sync.node().op()).codec().equals(Codec.EXACT))
            .toList();
    List<FeatureRanges> ranges = calibration.ranges(mesh, syncs, chosen);
    GraphEditor graph = new GraphEditor(module.graph());
    for (int i = 0; i < chosen.size(); i++) {
      new Rewrite(chosen.get(i), ranges.get(i), layouts, graph).run();
    }
    return module.with(graph.freeze());
  }

  /** Rewrites one sync. */
  private final class Rewrite {
    private final SumSync sync;
    private final FeatureRanges ranges;
    private final LayoutInference layouts;
    private final GraphEditor graph;
    private final int places;
    private final int devices;
    private final List<Integer> exact;
    private final List<Integer> coded;
    private final LowBitArithmetic arithmetic;

    Rewrite(SumSync sync, FeatureRanges ranges, LayoutInference layouts, GraphEditor graph) {
      this.sync = sync;
      this.ranges = ranges;
      this.layouts = layouts;
      this.graph = graph;
      this.arithmetic = new LowBitArithmetic(options.bits(), graph);
      this.places = sync.axes().size();
      this.devices = sync.places();
      int count = options.exact().orElse(sync.features() / FEATURES_PER_EXACT);
      if (count > sync.features()) {
        throw SyncCode.LOW_BIT.at(
            "pass low-bit, option bf16",
            "at most " + sync.features() + " features of " + sync.node(),
            count,
            "choose fewer");
      }
      this.exact =
          options.seed().isPresent()
              ? ranges.random(count, options.seed().getAsInt())
              : ranges.widest(count);
      this.coded =
          IntStream.range(0, sync.features()).filter(j -> !exact.contains(j)).boxed().toList();
    }

    void run() {
      Node node = sync.node();
      graph.before(node);
      SumTerms parts = SumTerms.of(sync, layouts, graph);
      Value term = parts.term().orElseThrow();
      Value joined =
          switch (options.via()) {
            case GATHER, SCATTER -> stacked(SumTerms.stacked(term, sync, graph));
            case TREE, RING -> hops(term);
          };
      Value result = arithmetic.cast(joined, sync.type().element());
      if (parts.whole().isPresent()) {
        result = arithmetic.binary(BinaryFunction.ADD, result, parts.whole().get());
      }
      graph.replace(node.result(), result);
    }

    /** The sum of terms {@code [places..., ..., features]}. */
    private Value stacked(Value stacked) {
      List<Value> sums = new ArrayList<>();
      boolean scatters = options.via() == Via.SCATTER;
      if (!coded.isEmpty()) {
        Value terms = arithmetic.select(stacked, coded, sync.features());
        sums.add(
            scatters
                ? new Scatter(terms, coded).coded()
                : sum(decoded(gathered(encoded(terms))), options.sum()));
      }
      if (!exact.isEmpty()) {
        Value selected = arithmetic.select(stacked, exact, sync.features());
        Value terms = arithmetic.cast(selected, ElementType.BF16);
        sums.add(
            scatters ? new Scatter(terms, exact).exact() : sum(gathered(terms), options.sum()));
      }
      return inOrder(sums, coded);
    }

    /** The sum of a partial term, whose exact features are an ordinary sum with another codec. */
    private Value hops(Value term) {
      List<Value> sums = new ArrayList<>();
      List<Integer> order = coded;
      Layout base = layouts.layout(sync.node().operand(0));
      if (!coded.isEmpty()) {
        HopSums hops = new HopSums(sync, ranges, base, options.sum(), arithmetic);
        boolean isRing = options.via() == Via.RING;
        sums.add(isRing ? hops.ring(term, coded) : hops.tree(term, coded));
        order = isRing ? hops.ringOrder(coded) : coded;
      }
      if (!exact.isEmpty()) {
        Communication.Sync before = (Communication.Sync) sync.node().op();
        Algorithm algorithm =
            options.via() == Via.RING ? new Algorithm.Ring() : new Algorithm.Tree(2);
        Value selected = arithmetic.select(term, exact, sync.features());
        Value sum = graph.add(before.with(algorithm).with(Codec.parse("bf16")), selected);
        sums.add(arithmetic.cast(sum, options.sum()));
      }
      return inOrder(sums, order);
    }

    /**
     * Restores the order of features before the selection.
     *
     * @param first the features of the first of the values; the exact ones follow
     */
    private Value inOrder(List<Value> values, List<Integer> first) {
      List<Integer> order = new ArrayList<>(first);
      order.addAll(exact);
      List<Integer> back = IntStream.range(0, order.size()).map(order::indexOf).boxed().toList();
      Value value = BitPacking.concat(values, graph);
      return order.stream().sorted().toList().equals(order)
          ? value
          : graph.add(
              new Movement.Gather(value.type().rank() - 1), value, arithmetic.indices(back));
    }

    /** Encodes {@code f32[places..., ..., coded]} as {@code u8[places..., bytes]}. */
    private Value encoded(Value value) {
      Value scale =
          constants(value.type().rank(), (place, j) -> arithmetic.scale(ranges.bound(place, j)));
      Layout layout =
          SumTerms.layout(sync, layouts.layout(sync.node().operand(0)), value.type().rank());
      Value own = graph.add(new Communication.Reshard(layout), scale);
      Value codes = arithmetic.quantised(value, own);
      return packing(value).pack(reshaped(codes, packing(value).codes()), arithmetic);
    }

    private BitPacking packing(Value value) {
      return new BitPacking(options.bits(), value.type().shape().elements() / devices);
    }

    private Value reshaped(Value value, long last) {
      List<Dim> dims = new ArrayList<>(value.type().shape().dims().subList(0, places));
      dims.add(Dim.of(last));
      return graph.add(new Movement.Reshape(new Shape(dims)), value);
    }

    /** Decodes {@code u8[places..., bytes]} to {@code bf16[places..., ..., coded]}. */
    private Value decoded(Value packed) {
      List<Dim> dims = new ArrayList<>(packed.type().shape().dims().subList(0, places));
      dims.addAll(sync.type().shape().dims());
      Shape shape = new Shape(dims).with(dims.size() - 1, Dim.of(coded.size()));
      BitPacking packing = new BitPacking(options.bits(), shape.elements() / devices);
      Value codes = graph.add(new Movement.Reshape(shape), packing.unpack(packed, arithmetic));
      Value step = constants(shape.rank(), (place, j) -> arithmetic.step(ranges.bound(place, j)));
      return arithmetic.dequantised(codes, step);
    }

    /** Returns the step of each place and coded feature. */
    private Value constants(int rank, ToDoubleBiFunction<Integer, Integer> value) {
      double[] data = new double[devices * coded.size()];
      for (int place = 0; place < devices; place++) {
        for (int j = 0; j < coded.size(); j++) {
          data[place * coded.size() + j] = value.applyAsDouble(place, coded.get(j));
        }
      }
      List<Dim> dims = new ArrayList<>();
      for (int dim = 0; dim < rank; dim++) {
        dims.add(dim < places ? Dim.of(sync.sizes().get(dim)) : Dim.ONE);
      }
      Shape shape = new Shape(dims).with(rank - 1, Dim.of(coded.size()));
      return graph.constant(Tensor.ofDoubles(new TensorType(ElementType.F32, shape), data));
    }

    private Value gathered(Value value) {
      int rank = value.type().rank();
      Layout of = layouts.layout(sync.node().operand(0));
      Layout from = SumTerms.layout(sync, of, rank);
      Layout to = Layout.replicated(of.mesh(), rank).withAt(of.at());
      return sync(value, from, to);
    }

    /** Sums {@code [places..., ...]} to {@code [...]}, one place after the other. */
    private Value sum(Value terms, ElementType type) {
      List<Dim> dims = new ArrayList<>(List.of(Dim.of(devices)));
      dims.addAll(terms.type().shape().dims().subList(places, terms.type().rank()));
      Value line = graph.add(new Movement.Reshape(new Shape(dims)), arithmetic.cast(terms, type));
      Value sum = BitPacking.slice(line, 0, 0, 1, graph);
      for (int place = 1; place < devices; place++) {
        sum =
            arithmetic.binary(BinaryFunction.ADD, sum, BitPacking.slice(line, 0, place, 1, graph));
      }
      Shape shape = new Shape(dims.subList(1, dims.size()));
      return graph.add(new Movement.Reshape(shape), sum);
    }

    /**
     * Sums in which each device adds a share of the features. It adds in f32 what is encoded again:
     * a chip may skip roundings to bf16, and what it sends must not depend on that.
     */
    private final class Scatter {
      private final Value terms;
      private final List<Integer> features;

      /** The number of features of a share; the last ones may be padding. */
      private final int each;

      private final long rows;
      private final List<Dim> shares;
      private final Layout base;

      /**
       * @param terms the terms {@code [places..., ..., features]}, each on its device
       */
      Scatter(Value terms, List<Integer> features) {
        this.terms = terms;
        this.features = features;
        this.each = Math.ceilDiv(features.size(), devices);
        this.rows = sync.type().shape().elements() / sync.features();
        this.shares = sync.sizes().stream().map(Dim::of).toList();
        this.base = layouts.layout(sync.node().operand(0));
      }

      Value coded() {
        BitPacking packing = new BitPacking(options.bits(), rows * each);
        Value scale =
            byFeature(
                terms.type().rank(), 0, (place, j) -> arithmetic.scale(ranges.bound(place, j)));
        Value codes = byShare(arithmetic.quantised(terms, scale));
        Value packed = packing.pack(flat(codes), arithmetic);
        Value received = packing.unpack(exchanged(packed), arithmetic);
        Value decoded =
            arithmetic.values(
                unflat(received, places),
                byFeature(
                    2 * places + 2, places, (place, j) -> arithmetic.step(ranges.bound(place, j))));
        Value sums = sum(decoded, ElementType.F32);
        Value again = arithmetic.quantised(sums, ofSums(j -> arithmetic.scale(ranges.sumBound(j))));
        Value all = packing.unpack(collected(packing.pack(flat(again), arithmetic)), arithmetic);
        Value values =
            arithmetic.values(unflat(all, 0), wholeSums(j -> arithmetic.step(ranges.sumBound(j))));
        return whole(arithmetic.cast(values, options.sum()));
      }

      Value exact() {
        Value received = exchanged(flat(byShare(terms)));
        Value sums =
            arithmetic.cast(sum(unflat(received, places), ElementType.F32), ElementType.BF16);
        return whole(arithmetic.cast(unflat(collected(flat(sums)), 0), options.sum()));
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
        return sync(
            value,
            SumTerms.layout(sync, base, value.type().rank()),
            sharesAt(value.type().rank(), places));
      }

      /** Sends shares from their devices to all. */
      private Value collected(Value value) {
        int rank = value.type().rank();
        return sync(
            value,
            sharesAt(value.type().rank(), 0),
            Layout.replicated(base.mesh(), rank).withAt(base.at()));
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
          return graph.add(new Communication.Reshard(layout), constants(rank, value));
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

    private Value sync(Value value, Layout from, Layout to) {
      Communication.Sync before = (Communication.Sync) sync.node().op();
      return graph.add(
          new Communication.Sync(
              new Resharding(from, to).kinds(), to, before.algorithm(), Codec.EXACT),
          value);
    }
  }
}
