package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Bf16Codec;
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
import io.partita.passes.mesh.sync.SetCodec;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests partial sums sent as bf16. All products are exact, so that C has the bits of the reference.
 */
@ExtendWith(WithCompiler.class)
class CodecInCTest {
  @TempDir private Path folder;

  private static Tensor ramp(int step, long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i * step % 29 - 13) * 0.25f;
    }
    return Tensor.of(type, values);
  }

  @Test
  void sumsOfProductsOnThreeChips() throws IOException {
    sumsOfProducts(3);
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = 2)
  void sumsOfProducts(int chips) throws IOException {
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
    Program program = Localization.of(new SetCodec(new Bf16Codec()).run(sharded), 1);
    Map<String, Tensor> inputs = Map.of("x", ramp(5, 7, 9));
    Tensor expected = new ProgramEvaluator(program, 1).run(inputs).get("y");
    assertThat(expected)
        .isNotEqualTo(new ProgramEvaluator(Localization.of(sharded, 1), 1).run(inputs).get("y"));
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa:chips=" + chips),
            new SchedulerOptions(OptionalLong.empty(), true, true));
    assertThat(SanitisedBuild.run(schedule, inputs, folder, "early").get("y")).isEqualTo(expected);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = 5)
  void sumsOfProductsOnFiveChips(int chips) throws IOException {
    sumsOfProducts(chips);
  }
}
