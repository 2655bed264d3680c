package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.op.Bf16Codec;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The text of a decoder block on two devices before and after each rewrite of its syncs; {@code
 * -Dgolden.update=true} updates it.
 */
class SyncRewriteGoldensTest {
  private static final GoldenFile GOLDENS = GoldenFile.of("sync-rewrites.golden");
  private static final int DEVICES = 2;

  private static Module exact() {
    return VaryingModules.joinedBlock(DEVICES, false);
  }

  private static void verify(String section, Module module) {
    Verifier.verify(module);
    GOLDENS.assertMatches(section, PirPrinter.print(module));
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, 1);
    Map<String, Tensor> devices = new ProgramEvaluator(Localization.of(module, 1), 1).run(inputs);
    CloseTensors.verify(
        List.copyOf(devices.values()), MeshEvaluator.run(module, List.copyOf(inputs.values())));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void exactAndDropped(boolean isBiased) {
    String section = isBiased ? " with biases" : "";
    Module exact = VaryingModules.joinedBlock(DEVICES, isBiased);
    verify("exact" + section, exact);
    verify("drop" + section, new DropSyncs(BlockSelection.ALL).run(exact));
  }

  @Test
  void bf16() {
    verify("bf16", new SetCodec(new Bf16Codec()).run(exact()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GATHER", "SCATTER", "TREE", "RING"})
  void int4(String via) {
    LowBitSyncs.Options options =
        new LowBitSyncs.Options(
            BlockSelection.ALL,
            4,
            OptionalInt.of(1),
            OptionalInt.empty(),
            ElementType.BF16,
            LowBitSyncs.Via.valueOf(via));
    Module coded = new LowBitSyncs(calibrated(exact()), options).run(exact());
    assertThat(coded).isNotEqualTo(exact());
    verify("int4+bf16(k=1,via=" + via.toLowerCase(Locale.ROOT) + ")", coded);
  }

  /** Tokens are split over devices, and keys and values of remote tokens are of centroids. */
  @ParameterizedTest
  @ValueSource(ints = {4, 5})
  void vq(int tokens) {
    String section = tokens % DEVICES == 0 ? "" : ", unequal parts";
    Module exact = VectorSyncsTest.sharded(VectorSyncsTest.attention(1, tokens, true), DEVICES);
    verify("exact, by sequence" + section, exact);
    verify("vq(k=4,groups=2)" + section, VectorSyncsTest.coded(exact, 2, 4));
  }

  /** Calibrates on one run, with ranges that don't depend on the last bits of results. */
  private static SyncCalibration calibrated(Module module) {
    RangeStatistics.Measuring measuring = RangeStatistics.of(module);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, 1);
    List<Tensor> results = MeshEvaluator.run(measuring.module(), List.copyOf(inputs.values()));
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      named.put(measuring.module().graph().outputs().get(i).name(), results.get(i));
    }
    List<FeatureRanges> ranges = measuring.ranges(named);
    List<SyncCalibration.Sum> sums = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      sums.add(
          new SyncCalibration.Sum(
              "sum " + i, measuring.sums().get(i).weights(), rounded(ranges.get(i))));
    }
    return new SyncCalibration(
        "cal.json", module.placement().orElseThrow().mesh().toString(), sums);
  }

  private static FeatureRanges rounded(FeatureRanges ranges) {
    return new FeatureRanges(
        rounded(ranges.minimum()),
        rounded(ranges.maximum()),
        rounded(ranges.leastSum()),
        rounded(ranges.largestSum()),
        rounded(ranges.leastPartial()),
        rounded(ranges.largestPartial()));
  }

  private static double[][] rounded(double[][] values) {
    return Stream.of(values).map(SyncRewriteGoldensTest::rounded).toArray(double[][]::new);
  }

  private static double[] rounded(double[] values) {
    return DoubleStream.of(values).map(value -> Math.rint(16 * value) / 16).toArray();
  }
}
