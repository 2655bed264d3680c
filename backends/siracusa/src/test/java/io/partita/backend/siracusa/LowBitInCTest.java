package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.LowBitSyncs;
import io.partita.passes.mesh.sync.RangeStatistics;
import io.partita.passes.mesh.sync.SumSync;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests partial sums sent in few bits. All products and steps are exact, so that C has the
 * reference's bits of codes, packed bytes and sums.
 */
@ExtendWith(WithCompiler.class)
class LowBitInCTest {
  @TempDir private Path folder;

  private static Tensor ramp(int step, long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i * step % 29 - 13) * 0.25f;
    }
    return Tensor.of(type, values);
  }

  /** Ranges are powers of two and smaller than some values, so that codes also saturate. */
  private static FeatureRanges ranges(int places, int features, int levels) {
    double[][] maximum = new double[places][features];
    double[][] minimum = new double[places][features];
    for (int place = 0; place < places; place++) {
      for (int j = 0; j < features; j++) {
        maximum[place][j] = levels * Math.scalb(1, (place + j) % 4 - 1);
        minimum[place][j] = -maximum[place][j] / 2;
      }
    }
    double[] largestSum = new double[features];
    double[] leastSum = new double[features];
    for (int j = 0; j < features; j++) {
      largestSum[j] = levels * Math.scalb(1, j % 3 + 1);
      leastSum[j] = -largestSum[j];
    }
    double[][] largestPartial = new double[partialSums(places)][features];
    double[][] leastPartial = new double[partialSums(places)][features];
    for (int row = 0; row < largestPartial.length; row++) {
      for (int j = 0; j < features; j++) {
        largestPartial[row][j] = levels * Math.scalb(1, (row + j) % 3);
        leastPartial[row][j] = -largestPartial[row][j];
      }
    }
    return new FeatureRanges(minimum, maximum, leastSum, largestSum, leastPartial, largestPartial);
  }

  /** Random ranges, whose steps aren't exact. */
  private static FeatureRanges random(int places, int features, long seed) {
    Random random = new Random(seed);
    double[][] largest = random(places, features, random);
    double[][] partial = random(partialSums(places), features, random);
    double[] sum = random(1, features, random)[0];
    return new FeatureRanges(
        negative(largest),
        largest,
        negative(new double[][] {sum})[0],
        sum,
        negative(partial),
        partial);
  }

  private static double[][] random(int lines, int features, Random random) {
    return Stream.generate(() -> random.doubles(features, 1, 30).toArray())
        .limit(lines)
        .toArray(double[][]::new);
  }

  private static double[][] negative(double[][] lines) {
    return Stream.of(lines)
        .map(line -> DoubleStream.of(line).map(each -> -each).toArray())
        .toArray(double[][]::new);
  }

  private static int partialSums(int places) {
    double[][] none = new double[places][0];
    return new FeatureRanges(none, none, none[0], none[0], none, none).partialSums();
  }

  /** Steps of powers of two: roundings to bf16, which C may skip, change nothing. */
  @ParameterizedTest
  @CsvSource("3,5,SCATTER")
  void sumsOfProducts(int chips, int bits, LowBitSyncs.Via via) throws IOException {
    FeatureRanges ranges = ranges(chips, 9, (1 << (bits - 1)) - 1);
    Results results = run(chips, bits, via, ElementType.BF16, ranges);
    assertThat(results.found()).isEqualTo(results.expected());
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("3,4,TREE")
  void sumsOfProductsInATree(int chips, int bits, LowBitSyncs.Via via) throws IOException {
    sumsOfProducts(chips, bits, via);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("3,3,GATHER")
  void moreSumsOfProducts(int chips, int bits, LowBitSyncs.Via via) throws IOException {
    sumsOfProducts(chips, bits, via);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"5,4,GATHER", "2,4,SCATTER", "4,3,RING"})
  void otherSumsOfProducts(int chips, int bits, LowBitSyncs.Via via) throws IOException {
    moreSumsOfProducts(chips, bits, via);
  }

  /** Sums that are encoded again have the same codes, though C may skip roundings to bf16. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"2,6,SCATTER,BF16,1"})
  void sumsWithAnySteps(int chips, int bits, LowBitSyncs.Via via, ElementType added, long seed)
      throws IOException {
    Results results = run(chips, bits, via, added, random(chips, 9, seed));
    if (added == ElementType.BF16) {
      assertThat(bf16(results.found())).isEqualTo(bf16(results.expected()));
    } else {
      assertThat(results.found()).isEqualTo(results.expected());
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("4,8,RING,BF16,7")
  void moreSumsWithAnySteps(int chips, int bits, LowBitSyncs.Via via, ElementType added, long seed)
      throws IOException {
    sumsWithAnySteps(chips, bits, via, added, seed);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "2,4,SCATTER,BF16,1",
    "4,6,SCATTER,F32,2",
    "5,8,SCATTER,BF16,3",
    "4,8,TREE,F32,5",
    "5,6,TREE,BF16,6",
    "3,5,RING,F32,8"
  })
  void otherSumsWithAnySteps(int chips, int bits, LowBitSyncs.Via via, ElementType added, long seed)
      throws IOException {
    moreSumsWithAnySteps(chips, bits, via, added, seed);
  }

  private static Tensor bf16(Tensor tensor) {
    return Tensor.ofDoubles(
        new TensorType(ElementType.BF16, tensor.type().shape()), tensor.doubles());
  }

  /**
   * Results of a network.
   *
   * @param expected the results of the evaluator
   * @param found the results of C
   */
  private record Results(Tensor expected, Tensor found) {}

  private Results run(
      int chips, int bits, LowBitSyncs.Via via, ElementType added, FeatureRanges ranges)
      throws IOException {
    GraphBuilder builder = new GraphBuilder("feed-forward");
    Value x = builder.input("x", TensorType.of(ElementType.F32, 7, 9));
    Value hidden =
        builder.add(new Structured.Linear(false, false), x, builder.constant(ramp(7, 9, 15)));
    Value positive = builder.add(new Elementwise.Unary(UnaryFunction.RELU), hidden);
    builder.output(
        "y",
        builder.add(
            new Structured.Linear(false, false), positive, builder.constant(ramp(11, 15, 9))));
    Module sharded = new ShardPass(Strategy.tensor(chips)).run(new Module(builder.finish()));
    SumSync sum = RangeStatistics.of(sharded).sums().getFirst();
    SyncCalibration calibration =
        new SyncCalibration(
            "test",
            sharded.placement().orElseThrow().mesh().toString(),
            List.of(new SyncCalibration.Sum("sum", sum.weights(), ranges)));
    LowBitSyncs pass =
        new LowBitSyncs(
            calibration,
            new LowBitSyncs.Options(
                BlockSelection.parse("all").orElseThrow(),
                bits,
                OptionalInt.of(1),
                OptionalInt.empty(),
                added,
                via));
    Program program = Localization.of(pass.run(sharded), 1);
    Map<String, Tensor> inputs = Map.of("x", ramp(5, 7, 9));
    Tensor expected = new ProgramEvaluator(program, 1).run(inputs).get("y");
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa:chips=" + chips),
            new SchedulerOptions(OptionalLong.empty(), true, true));
    return new Results(expected, SanitisedBuild.run(schedule, inputs, folder, "early").get("y"));
  }
}
