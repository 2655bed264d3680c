package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.LowBitSyncs.Options;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LowBitSyncsTest {
  private static final int TOKENS = 3;
  private static final int FEATURES = 8;

  private static Options options(int bits, int exact) {
    return options(bits, exact, LowBitSyncs.Via.GATHER);
  }

  private static Options options(int bits, int exact, LowBitSyncs.Via via) {
    return new Options(
        BlockSelection.parse("all").orElseThrow(),
        bits,
        OptionalInt.of(exact),
        OptionalInt.empty(),
        ElementType.BF16,
        via);
  }

  private static SyncCalibration calibrated(Module module, SequencedMap<String, Tensor> inputs) {
    RangeStatistics.Measuring measuring = RangeStatistics.of(module);
    Verifier.verify(measuring.module());
    List<Tensor> results = MeshEvaluator.run(measuring.module(), List.copyOf(inputs.values()));
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      named.put(measuring.module().graph().outputs().get(i).name(), results.get(i));
    }
    List<FeatureRanges> ranges = measuring.ranges(named);
    List<SumErrors> errors = measuring.errors(named, ranges);
    List<SyncCalibration.Sum> sums = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      String weights = measuring.sums().get(i).weights();
      sums.add(new SyncCalibration.Sum("sum " + i, weights, ranges.get(i), errors.get(i)));
    }
    return new SyncCalibration(
        "cal.json", module.placement().orElseThrow().mesh().toString(), sums);
  }

  private static double largestError(List<Tensor> found, List<Tensor> expected) {
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      for (int j = 0; j < expected.get(i).size(); j++) {
        double error = found.get(i).getDouble(j) - expected.get(i).getDouble(j);
        largest = Math.max(largest, Math.abs(error));
      }
    }
    return largest;
  }

  /** Tests codes of each width, also with partial bytes. */
  @ParameterizedTest
  @CsvSource({"1,9", "2,7", "3,13", "4,5", "4,8", "5,3", "6,17", "7,4", "8,3", "3,1"})
  void codesArePackedAndUnpacked(int bits, int codes) {
    GraphBuilder builder = new GraphBuilder("packing");
    Value input = builder.input("codes", TensorType.of(ElementType.U8, 2, codes));
    builder.output("same", input);
    GraphEditor graph = new GraphEditor(builder.finish());
    BitPacking packing = new BitPacking(bits, codes);
    Value packed = packing.pack(input, graph);
    graph.addOutput("packed", packed);
    graph.addOutput("unpacked", packing.unpack(packed, graph));
    Graph finished = graph.freeze();
    long[] data = LongStream.range(0, 2L * codes).map(i -> (i * 37 + 5) % (1 << bits)).toArray();
    Tensor given = Tensor.ofLongs(input.type(), data);
    List<Tensor> results = Evaluator.run(finished, List.of(given));
    assertThat(results.get(1).size()).isEqualTo(2 * Math.toIntExact(packing.bytes()));
    assertThat(packing.bytes()).isBetween((bits * codes + 7) / 8L, bits * codes / 8 + 3L);
    assertThat(results.get(2)).isEqualTo(given);
  }

  /**
   * On what was calibrated, no value is beyond its range: each term errs by half a step, and each
   * sum of bf16 by its roundings.
   */
  @ParameterizedTest
  @CsvSource({"3,4,true,GATHER", "3,4,true,SCATTER", "3,4,true,TREE", "3,4,true,RING"})
  void sumsAreWithinHalfAStepOfEachTerm(
      int devices, int bits, boolean isBiased, LowBitSyncs.Via via) {
    Module joined = VaryingModules.joinedBlock(devices, isBiased);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(joined, devices);
    SyncCalibration calibration = calibrated(joined, inputs);
    // By hops, exact features are an ordinary sum of bf16, whose order the mesh doesn't state.
    boolean isByHops = via == LowBitSyncs.Via.TREE || via == LowBitSyncs.Via.RING;
    Module coded = new LowBitSyncs(calibration, options(bits, isByHops ? 0 : 1, via)).run(joined);
    Verifier.verify(coded);
    List<Tensor> given = List.copyOf(inputs.values());
    List<Tensor> expected = MeshEvaluator.run(joined, given);
    List<Tensor> found = MeshEvaluator.run(coded, given);
    // The error of the first sum also passes the network, which may enlarge it.
    double step = 0;
    for (SyncCalibration.Sum sum : calibration.sums()) {
      for (int j = 0; j < FEATURES; j++) {
        double again = via == LowBitSyncs.Via.GATHER ? 0 : sum.ranges().sumBound(j);
        for (double[] partial : isByHops ? sum.ranges().largestPartial() : new double[0][]) {
          again += Math.abs(partial[j]);
        }
        step = Math.max(step, sum.ranges().aggregated(j) + again);
      }
    }
    double levels = (1 << (bits - 1)) - 1;
    assertThat(largestError(found, expected))
        .isPositive()
        .isLessThan(8 * step * (0.5 / levels + devices * 0x1p-8));
    // Different replicas are refused here, so all devices agree with the mesh.
    Program program = Localization.of(coded, 1);
    List<Tensor> onDevices = List.copyOf(new ProgramEvaluator(program, 1).run(inputs).values());
    assertThat(largestError(onDevices, found)).isCloseTo(0, within(1e-6));
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "2,4,false,GATHER",
    "4,8,false,GATHER",
    "4,3,true,GATHER",
    "2,2,false,GATHER",
    "2,4,false,SCATTER",
    "4,8,false,SCATTER",
    "5,6,true,SCATTER",
    "2,4,false,TREE",
    "4,8,false,TREE",
    "5,6,true,TREE",
    "2,4,false,RING",
    "4,8,false,RING",
    "5,6,true,RING"
  })
  void otherSumsAreWithinHalfAStepOfEachTerm(
      int devices, int bits, boolean isBiased, LowBitSyncs.Via via) {
    sumsAreWithinHalfAStepOfEachTerm(devices, bits, isBiased, via);
  }

  /** Sums in f32 round nothing to bf16, which targets might skip, and then differ in codes. */
  @ParameterizedTest
  @EnumSource(value = LowBitSyncs.Via.class, names = "BEST", mode = EnumSource.Mode.EXCLUDE)
  void sumsInF32HaveNoOtherType(LowBitSyncs.Via via) {
    Module joined = VaryingModules.joinedBlock(3, false);
    SyncCalibration calibration = calibrated(joined, VaryingModules.inputs(joined, 3));
    for (ElementType sum : List.of(ElementType.F32, ElementType.BF16)) {
      Options options =
          new Options(
              BlockSelection.parse("all").orElseThrow(),
              4,
              OptionalInt.of(0),
              OptionalInt.empty(),
              sum,
              via);
      String text = PirPrinter.print(new LowBitSyncs(calibration, options).run(joined));
      assertThat(text.contains("bf16")).as(sum.toString()).isEqualTo(sum == ElementType.BF16);
    }
  }

  /** A feed-forward network, whose result is a sum on some devices. */
  private static Module network(int devices) {
    GraphBuilder builder = new GraphBuilder("feed-forward");
    Value x = builder.input("x", TensorType.of(ElementType.F32, 20, 9));
    Value in = builder.constant(random(1, 9, 15));
    Value hidden = builder.add(new Structured.Linear(false, false), x, in);
    Value positive = builder.add(new Elementwise.Unary(UnaryFunction.RELU), hidden);
    Value out = builder.constant(random(2, 15, 70));
    builder.output("y", builder.add(new Structured.Linear(false, false), positive, out));
    return new ShardPass(Strategy.tensor(devices)).run(new Module(builder.finish()));
  }

  private static Tensor random(long seed, long rows, long columns) {
    Random random = new Random(seed);
    float[] data = new float[Math.toIntExact(rows * columns)];
    for (int i = 0; i < data.length; i++) {
      data[i] = (float) random.nextGaussian();
    }
    return Tensor.floats(Shape.of(rows, columns), data);
  }

  private static double relativeError(Tensor found, Tensor expected) {
    double square = 0;
    double norm = 0;
    for (int i = 0; i < expected.size(); i++) {
      square += Math.pow(found.getDouble(i) - expected.getDouble(i), 2);
      norm += Math.pow(expected.getDouble(i), 2);
    }
    return Math.sqrt(square / norm);
  }

  private static Options usual(int bits, LowBitSyncs.Via via, OptionalDouble error) {
    return new Options(
        BlockSelection.parse("all").orElseThrow(),
        bits,
        OptionalInt.empty(),
        OptionalInt.empty(),
        ElementType.BF16,
        via,
        error);
  }

  /** The error that is computed from terms is that of the rewritten module. */
  @ParameterizedTest
  @CsvSource({"2,4", "3,3", "5,4", "5,8"})
  void errorsAreThoseOfTheModule(int devices, int bits) {
    Module module = network(devices);
    SequencedMap<String, Tensor> inputs = new LinkedHashMap<>(Map.of("x", random(3, 20, 9)));
    SyncCalibration calibration = calibrated(module, inputs);
    List<Tensor> given = List.copyOf(inputs.values());
    Tensor expected = MeshEvaluator.run(module, given).getFirst();
    for (LowBitSyncs.Via via : LowBitSyncs.Via.EXCHANGES) {
      Module coded =
          new LowBitSyncs(calibration, usual(bits, via, OptionalDouble.empty())).run(module);
      double error = relativeError(MeshEvaluator.run(coded, given).getFirst(), expected);
      SumErrors errors = calibration.sums().getFirst().errors();
      assertThat(errors.relative(SumErrors.key(bits, true, via)).orElseThrow())
          .isCloseTo(error, withinPercentage(2));
    }
  }

  /** The exchange with the fewest bytes within the bound is chosen, or all errors are too large. */
  @Test
  void theCheapestExchangeWithinABoundIsChosen() {
    Module module = network(5);
    SequencedMap<String, Tensor> inputs = new LinkedHashMap<>(Map.of("x", random(3, 20, 9)));
    SyncCalibration calibration = calibrated(module, inputs);
    SumErrors errors = calibration.sums().getFirst().errors();
    Map<LowBitSyncs.Via, Double> byExchange = new LinkedHashMap<>();
    for (LowBitSyncs.Via via : LowBitSyncs.Via.EXCHANGES) {
      byExchange.put(via, errors.relative(SumErrors.key(4, true, via)).orElseThrow());
    }
    double gathered = byExchange.get(LowBitSyncs.Via.GATHER);
    double scattered = byExchange.get(LowBitSyncs.Via.SCATTER);
    assertThat(gathered).isLessThan(scattered);
    assertThat(scattered).isLessThan(byExchange.get(LowBitSyncs.Via.TREE));
    assertThat(chosen(module, calibration, 1)).isEqualTo(rewritten(module, LowBitSyncs.Via.TREE));
    assertThat(chosen(module, calibration, scattered))
        .isEqualTo(rewritten(module, LowBitSyncs.Via.SCATTER));
    assertThat(chosen(module, calibration, gathered))
        .isEqualTo(rewritten(module, LowBitSyncs.Via.GATHER));
    assertThatThrownBy(() -> chosen(module, calibration, gathered / 2))
        .hasMessageContaining("P4223")
        .hasMessageContaining("an error of at most");
    SyncCalibration.Sum sum = calibration.sums().getFirst();
    SyncCalibration.Sum unmeasured =
        new SyncCalibration.Sum(sum.name(), sum.weights(), sum.ranges());
    SyncCalibration older =
        new SyncCalibration("cal.json", calibration.mesh(), List.of(unmeasured));
    assertThatThrownBy(() -> chosen(module, older, 1))
        .hasMessageContaining("P4224")
        .hasMessageContaining("write it again");
  }

  private static String chosen(Module module, SyncCalibration calibration, double bound) {
    Options options = usual(4, LowBitSyncs.Via.BEST, OptionalDouble.of(bound));
    return PirPrinter.print(new LowBitSyncs(calibration, options).run(module));
  }

  private static String rewritten(Module module, LowBitSyncs.Via via) {
    SequencedMap<String, Tensor> inputs = new LinkedHashMap<>(Map.of("x", random(3, 20, 9)));
    SyncCalibration calibration = calibrated(module, inputs);
    Options options = usual(4, via, OptionalDouble.empty());
    return PirPrinter.print(new LowBitSyncs(calibration, options).run(module));
  }

  @Test
  void moreBitsAreCloser() {
    Module joined = VaryingModules.joinedBlock(4, false);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(joined, 4);
    SyncCalibration calibration = calibrated(joined, inputs);
    List<Tensor> given = List.copyOf(inputs.values());
    List<Tensor> expected = MeshEvaluator.run(joined, given);
    List<Double> errors = new ArrayList<>();
    for (int bits : new int[] {2, 4, 6, 8}) {
      Module coded = new LowBitSyncs(calibration, options(bits, 0)).run(joined);
      errors.add(largestError(MeshEvaluator.run(coded, given), expected));
    }
    assertThat(errors).isSortedAccordingTo((a, b) -> Double.compare(b, a));
  }

  /** Tests that each device sends its term to each other one, as packed codes and bf16. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void codesAreSentPacked(int devices) {
    Module joined = VaryingModules.joinedBlock(devices, true);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(joined, devices);
    Module coded = new LowBitSyncs(calibrated(joined, inputs), options(4, 1)).run(joined);
    Module direct = new ChooseAlgorithms(change -> new Algorithm.Direct()).run(coded);
    long sent =
        Localization.of(direct, 1).devices().stream()
            .flatMap(device -> device.graph().nodes().stream())
            .filter(node -> node.op() instanceof Communication.Exchange)
            .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
            .filter(Step.Send.class::isInstance)
            .mapToLong(Step::bytes)
            .sum();
    long term = (TOKENS * (FEATURES - 1) + 1) / 2 + TOKENS * 2;
    assertThat(sent).isEqualTo(2L * devices * (devices - 1) * term);
  }

  /**
   * Tests that each device sends a share of its term, and its share of the sum, to each other one.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void scatteredSumsSendTwoSharesToEachDevice(int devices) {
    Module joined = VaryingModules.joinedBlock(devices, false);
    SyncCalibration calibration = calibrated(joined, VaryingModules.inputs(joined, devices));
    Module coded = new LowBitSyncs(calibration, options(4, 1, LowBitSyncs.Via.SCATTER)).run(joined);
    Program program = Localization.of(coded, 1);
    long sent =
        program.devices().stream()
            .flatMap(device -> device.graph().nodes().stream())
            .filter(node -> node.op() instanceof Communication.Exchange)
            .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
            .filter(Step.Send.class::isInstance)
            .mapToLong(Step::bytes)
            .sum();
    long codes = (TOKENS * Math.ceilDiv(FEATURES - 1, devices) + 1) / 2;
    assertThat(sent).isEqualTo(2L * 2 * devices * (devices - 1) * (codes + TOKENS * 2L));
  }

  /**
   * Tests that each device sends one partial sum of each feature, and each sum is sent to all
   * others.
   */
  @ParameterizedTest
  @CsvSource({"2,TREE", "3,TREE", "4,TREE", "2,RING", "3,RING", "4,RING"})
  void sumsByHopsSendTwoTermsPerFurtherDevice(int devices, LowBitSyncs.Via via) {
    Module joined = VaryingModules.joinedBlock(devices, false);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(joined, devices);
    SyncCalibration calibration = calibrated(joined, inputs);
    Module coded = new LowBitSyncs(calibration, options(4, 1, via)).run(joined);
    Program program = Localization.of(coded, 1);
    long codes = 0;
    for (int share = 0; share < (via == LowBitSyncs.Via.RING ? devices : 1); share++) {
      for (SyncCalibration.Sum sum : calibration.sums()) {
        int exact = sum.ranges().widest(1).getFirst();
        int of = share;
        long inShare =
            LongStream.range(0, FEATURES)
                .filter(j -> j != exact && (via == LowBitSyncs.Via.TREE || j % devices == of))
                .count();
        codes += (TOKENS * inShare + 1) / 2;
      }
    }
    long exactBytes = 2L * TOKENS * 2;
    assertThat(sent(program)).isEqualTo(2L * (devices - 1) * (codes + exactBytes));
    List<Tensor> expected = MeshEvaluator.run(coded, List.copyOf(inputs.values()));
    List<Tensor> found = List.copyOf(new ProgramEvaluator(program, 1).run(inputs).values());
    assertThat(largestError(found, expected)).isLessThan(0.1);
  }

  private static long sent(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Communication.Exchange)
        .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
        .filter(Step.Send.class::isInstance)
        .mapToLong(Step::bytes)
        .sum();
  }

  @Test
  void rangesAreMovingAveragesAndTheWidestAreSelected() {
    FeatureRanges first =
        new FeatureRanges(
            new double[][] {{-1, 0, -5}, {-1, -2, 0}},
            new double[][] {{2, 1, 4}, {0, 9, 1}},
            new double[] {-2, -2, -5},
            new double[] {2, 10, 5},
            new double[0][],
            new double[0][]);
    FeatureRanges second =
        new FeatureRanges(
            new double[][] {{-3, 0, 0}, {0, 0, 0}},
            new double[][] {{2, 1, 4}, {0, 9, 101}},
            new double[] {-2, -12, -5},
            new double[] {2, 10, 105},
            new double[0][],
            new double[0][]);
    FeatureRanges both = first.updated(second);
    assertThat(both.minimum()[0][0]).isCloseTo(-1.02, within(1e-12));
    assertThat(both.maximum()[1][2]).isCloseTo(2, within(1e-12));
    assertThat(both.sumBound(2)).isCloseTo(6, within(1e-12));
    assertThat(both.leastSum()[1]).isCloseTo(-2.1, within(1e-12));
    assertThat(first.bound(0, 2)).isEqualTo(5);
    assertThat(first.aggregated(1)).isEqualTo(10);
    assertThat(first.widest(2)).containsExactly(1, 2);
    assertThat(first.spread()).isCloseTo(10 / ((3 + 10 + 6) / 3.0), within(1e-12));
    assertThat(first.random(3, 7)).containsExactly(0, 1, 2);
    assertThat(first.random(1, 7)).isEqualTo(first.random(1, 7));
  }

  @Test
  void calibrationsOfOtherModelsAreRefused() {
    Module two = VaryingModules.joinedBlock(2, false);
    SyncCalibration calibration = calibrated(two, VaryingModules.inputs(two, 2));
    LowBitSyncs pass = new LowBitSyncs(calibration, options(4, 1));
    assertThatThrownBy(() -> pass.run(VaryingModules.joinedBlock(3, false)))
        .hasMessageContaining("P4224")
        .hasMessageContaining("mesh(x=2)");
    assertThatThrownBy(() -> pass.run(new Module(new GraphBuilder("empty").finish())))
        .hasMessageContaining("P4223")
        .hasMessageContaining("add shard(tensor=N) before it");
    SyncCalibration.Sum sum = calibration.sums().getFirst();
    List<SyncCalibration.Sum> other = new ArrayList<>(calibration.sums());
    other.set(0, new SyncCalibration.Sum(sum.name(), "0123", sum.ranges()));
    SyncCalibration changed = new SyncCalibration("cal.json", calibration.mesh(), other);
    assertThatThrownBy(() -> new LowBitSyncs(changed, options(4, 1)).run(two))
        .hasMessageContaining("P4224")
        .hasMessageContaining("no sum with its weights");
    double largest = sum.ranges().maximum()[1][3];
    sum.ranges().maximum()[1][3] = Double.NaN;
    assertThatThrownBy(() -> pass.run(two))
        .hasMessageContaining("P4225")
        .hasMessageContaining("none for feature 3");
    sum.ranges().maximum()[1][3] = sum.ranges().minimum()[1][3] - 1;
    assertThatThrownBy(() -> pass.run(two))
        .hasMessageContaining("P4225")
        .hasMessageContaining("none for feature 3");
    sum.ranges().maximum()[1][3] = largest;
    assertThatThrownBy(() -> new LowBitSyncs(calibration, options(4, 9)).run(two))
        .hasMessageContaining("P4223")
        .hasMessageContaining("at most 8 features");
  }
}
