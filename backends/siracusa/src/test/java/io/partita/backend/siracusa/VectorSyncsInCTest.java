package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.arbitrary.NearTies;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.TokenGathers;
import io.partita.passes.mesh.sync.TokenStatistics;
import io.partita.passes.mesh.sync.VectorSyncs;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests tokens sent as indices of centroids. C finds the centroids of the reference, so attention
 * differs only by rounding.
 */
@ExtendWith(WithCompiler.class)
@Tag("thorough")
class VectorSyncsInCTest {
  private static final int FEATURES = 8;
  private static final int HEADS = 2;

  @TempDir private Path folder;

  private static float[] ramp(int step, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (i * step % 29 - 13) * 0.25f;
    }
    return values;
  }

  private static float[] negated(Tensor tensor) {
    float[] values = tensor.floats().clone();
    for (int i = 0; i < values.length; i++) {
      values[i] = -values[i];
    }
    return values;
  }

  private static Module attention(int tokens) {
    GraphBuilder graph = new GraphBuilder("attention");
    TensorType type = TensorType.of(ElementType.F32, 1, tokens, FEATURES);
    Value negated = graph.add(new Elementwise.Unary(UnaryFunction.NEG), graph.input("x", type));
    List<Value> heads = new ArrayList<>();
    for (int step : List.of(3, 5, 7)) {
      Tensor weight = Tensor.floats(Shape.of(FEATURES, FEATURES), ramp(step, FEATURES * FEATURES));
      Value projected =
          graph.add(new Structured.Linear(false, false), negated, graph.constant(weight));
      Shape cut = Shape.of(1, tokens, HEADS, FEATURES / HEADS);
      Value lines = graph.add(new Movement.Reshape(cut), projected);
      heads.add(graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), lines));
    }
    Value attended =
        graph.add(new Structured.Attention(0.01, 0, false, Dim.ZERO, 0, false, false), heads);
    Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), attended);
    graph.output("y", graph.add(new Movement.Reshape(type.shape()), back));
    return new Module(graph.finish());
  }

  @ParameterizedTest
  @CsvSource("6,2,1,16")
  void centroidsAgreeWithTheReference(int tokens, int chips, int groups, int size)
      throws IOException {
    NearTies drawn = new NearTies(tokens, 1, tokens, groups, FEATURES / groups, size);
    Module sharded =
        new ShardPass(Strategy.of(Map.of("sequence", "" + chips))).run(attention(tokens));
    Codebook book =
        new Codebook(
            "tokens",
            TokenStatistics.of(sharded).syncs().getFirst().weights(),
            FEATURES,
            groups,
            size,
            drawn.centroids().floats(),
            new Residual(0, 0, 0, new float[0], new float[0]));
    SyncCalibration calibration = new SyncCalibration("test", "mesh", List.of(), List.of(book));
    Module coded =
        new VectorSyncs(
                calibration,
                BlockSelection.ALL,
                new SyncMethod.Width.Vector(size, groups, TokenGathers.Kind.FEATURES))
            .run(sharded);
    Program program = Localization.of(coded, 1);
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.floats(Shape.of(1, tokens, FEATURES), negated(drawn.vectors())));
    Tensor expected = new ProgramEvaluator(program, 1).run(inputs).get("y");
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa:chips=" + chips),
            new SchedulerOptions(OptionalLong.empty(), true, true));
    Tensor found = SanitisedBuild.run(schedule, inputs, folder, "early").get("y");
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-4));
    }
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource("7,3,4,300")
  void manyCentroidsAgreeWithTheReference(int tokens, int chips, int groups, int size)
      throws IOException {
    centroidsAgreeWithTheReference(tokens, chips, groups, size);
  }
}
