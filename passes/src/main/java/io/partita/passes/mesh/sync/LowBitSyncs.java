package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.ModulePass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
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
   * @param error the largest error of a sum with {@link Via#BEST}, relative to its L2 norm
   */
  public record Options(
      BlockSelection blocks,
      int bits,
      OptionalInt exact,
      OptionalInt seed,
      ElementType sum,
      Via via,
      OptionalDouble error) {
    /** Options without a bound of the error. */
    public Options(
        BlockSelection blocks,
        int bits,
        OptionalInt exact,
        OptionalInt seed,
        ElementType sum,
        Via via) {
      this(blocks, bits, exact, seed, sum, via, OptionalDouble.empty());
    }
  }

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
    RING,
    /**
     * For each sum, the exchange with the fewest bytes whose error, measured on calibration data,
     * is within a bound.
     */
    BEST;

    /** The exchanges to choose from. */
    public static final List<Via> EXCHANGES = List.of(GATHER, SCATTER, TREE, RING);

    /** Returns the most messages that wait for each other, if all are sent directly. */
    public int steps(int devices) {
      return switch (this) {
        case GATHER -> 1;
        case SCATTER -> 2;
        case TREE -> Integer.SIZE - Integer.numberOfLeadingZeros(devices - 1) + 1;
        case RING -> devices;
        case BEST -> throw new IllegalArgumentException(toString());
      };
    }

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
            .filter(sync -> options.blocks().contains(sync.block(), sync.node()))
            .filter(sync -> ((Communication.Sync) sync.node().op()).codec().equals(Codec.EXACT))
            .toList();
    List<SyncCalibration.Sum> sums = calibration.sums(mesh, syncs, chosen);
    GraphEditor graph = new GraphEditor(module.graph());
    for (int i = 0; i < chosen.size(); i++) {
      new Rewrite(chosen.get(i), sums.get(i), layouts, graph).run();
    }
    return module.with(graph.freeze());
  }

  /** Returns the number of features to send as bf16. */
  static int exact(OptionalInt given, int features) {
    return given.orElse(features / FEATURES_PER_EXACT);
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
    private final Via via;

    Rewrite(SumSync sync, SyncCalibration.Sum sum, LayoutInference layouts, GraphEditor graph) {
      this.sync = sync;
      this.ranges = sum.ranges();
      this.layouts = layouts;
      this.graph = graph;
      this.arithmetic = new LowBitArithmetic(options.bits(), graph);
      this.places = sync.axes().size();
      this.devices = sync.places();
      int count = exact(options.exact(), sync.features());
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
      this.via = options.via() == Via.BEST ? cheapest(sum) : options.via();
    }

    /**
     * Returns the exchange with the fewest bytes within the bound of the error; of equal ones, that
     * with the smallest error.
     */
    private Via cheapest(SyncCalibration.Sum sum) {
      int usual = exact(OptionalInt.empty(), sync.features());
      boolean isMeasured = options.seed().isEmpty() && (exact.isEmpty() || exact.size() == usual);
      Map<Via, Double> errors = new EnumMap<>(Via.class);
      for (Via each : isMeasured ? Via.EXCHANGES : List.<Via>of()) {
        sum.errors()
            .relative(SumErrors.key(options.bits(), !exact.isEmpty(), each))
            .ifPresent(error -> errors.put(each, error));
      }
      if (errors.isEmpty()) {
        throw SyncCode.CALIBRATION.at(
            calibration.source() + ", sum " + sum.name(),
            "the measured errors of all exchanges, for via=best",
            isMeasured ? "none" : "errors of other selections of bf16 features",
            isMeasured
                ? "write it again with partita calibrate"
                : "leave out random and k, or name the exchange, such as via=tree");
      }
      double bound = options.error().orElseThrow();
      return errors.entrySet().stream()
          .filter(each -> each.getValue() <= bound)
          .min(
              Comparator.<Map.Entry<Via, Double>>comparingLong(each -> bytes(each.getKey()))
                  .thenComparingDouble(Map.Entry::getValue))
          .orElseThrow(
              () -> {
                double least = errors.values().stream().min(Double::compare).orElseThrow();
                return SyncCode.LOW_BIT.at(
                    "pass low-bit, sum " + sum.name(),
                    "an exchange with an error of at most " + bound,
                    String.format(Locale.ROOT, "%.3g or more", least),
                    "allow a larger error, or send more bits");
              })
          .getKey();
    }

    /** The bytes that all devices send, if they send directly. */
    private long bytes(Via exchange) {
      long rows = sync.type().shape().elements() / sync.features();
      return switch (exchange) {
        case GATHER -> (long) devices * (devices - 1) * bytes(rows, coded.size(), exact.size());
        case SCATTER ->
            2L
                * devices
                * (devices - 1)
                * bytes(
                    rows, Math.ceilDiv(coded.size(), devices), Math.ceilDiv(exact.size(), devices));
        case TREE -> 2L * (devices - 1) * bytes(rows, coded.size(), exact.size());
        case RING -> {
          long all = bytes(rows, 0, exact.size());
          for (int end = 0; end < devices; end++) {
            int share = end;
            long count =
                coded.stream().filter(j -> PartialSums.ringEnd(j, devices) == share).count();
            all += bytes(rows, count, 0);
          }
          yield 2L * (devices - 1) * all;
        }
        case BEST -> throw new IllegalArgumentException(exchange.toString());
      };
    }

    private long bytes(long rows, long codes, long wide) {
      return new BitPacking(options.bits(), rows * codes).bytes() + rows * wide * 2;
    }

    void run() {
      Node node = sync.node();
      graph.before(node);
      SumTerms parts = SumTerms.of(sync, layouts, graph);
      Value term = parts.term().orElseThrow();
      Value joined =
          switch (via) {
            case GATHER, SCATTER -> stacked(SumTerms.stacked(term, sync, graph));
            case TREE, RING -> hops(term);
            case BEST -> throw new IllegalStateException(via.toString());
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
      boolean scatters = via == Via.SCATTER;
      if (!coded.isEmpty()) {
        Value terms = arithmetic.select(stacked, coded, sync.features());
        sums.add(scatters ? scattered(coded).coded(terms) : sum(decoded(gathered(encoded(terms)))));
      }
      if (!exact.isEmpty()) {
        Value selected = arithmetic.select(stacked, exact, sync.features());
        Value terms = arithmetic.cast(selected, ElementType.BF16);
        sums.add(scatters ? scattered(exact).exact(terms) : sum(gathered(terms)));
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
        boolean isRing = via == Via.RING;
        sums.add(isRing ? hops.ring(term, coded) : hops.tree(term, coded));
        order = isRing ? hops.ringOrder(coded) : coded;
      }
      if (!exact.isEmpty()) {
        Communication.Sync before = (Communication.Sync) sync.node().op();
        Algorithm algorithm = via == Via.RING ? new Algorithm.Ring() : new Algorithm.Tree(2);
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

    /** Decodes {@code u8[places..., bytes]} to {@code f32[places..., ..., coded]}. */
    private Value decoded(Value packed) {
      List<Dim> dims = new ArrayList<>(packed.type().shape().dims().subList(0, places));
      dims.addAll(sync.type().shape().dims());
      Shape shape = new Shape(dims).with(dims.size() - 1, Dim.of(coded.size()));
      BitPacking packing = new BitPacking(options.bits(), shape.elements() / devices);
      Value codes = graph.add(new Movement.Reshape(shape), packing.unpack(packed, arithmetic));
      Value step = constants(shape.rank(), (place, j) -> arithmetic.step(ranges.bound(place, j)));
      return arithmetic.values(codes, step);
    }

    private Value constants(int rank, ToDoubleBiFunction<Integer, Integer> value) {
      return graph.constant(arithmetic.constants(sync, coded, rank, value));
    }

    private Value gathered(Value value) {
      int rank = value.type().rank();
      Layout of = layouts.layout(sync.node().operand(0));
      Layout from = SumTerms.layout(sync, of, rank);
      Layout to = Layout.replicated(of.mesh(), rank).withAt(of.at());
      return SumTerms.sync(sync, value, from, to, graph);
    }

    private Value sum(Value terms) {
      return arithmetic.sum(terms, places, options.sum());
    }

    private ScatteredSums scattered(List<Integer> features) {
      Layout base = layouts.layout(sync.node().operand(0));
      return new ScatteredSums(sync, ranges, base, options.sum(), arithmetic, features);
    }
  }
}
