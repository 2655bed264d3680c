package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.partita.backend.emitted.ProgramDescription;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The complete emitted files; {@code -Dgolden.update=true} updates them. */
class GoldenSourceTest {
  /** Returns a network of two layers on two chips, each with half of the inner features. */
  @Test
  void twoChips() throws IOException {
    GraphBuilder builder = new GraphBuilder("feed-forward");
    Value x = builder.input("features", TensorType.of(ElementType.F32, 12, 16));
    Value hidden =
        builder
            .at("/up/MatMul")
            .add(new Structured.Linear(false, false), x, builder.constant(ramp(16, 32)));
    Value positive = builder.at("/Relu").add(new Elementwise.Unary(UnaryFunction.RELU), hidden);
    Value y =
        builder
            .at("/down/MatMul")
            .add(new Structured.Linear(false, false), positive, builder.constant(ramp(32, 16)));
    builder.output("y", y);
    Module module = new ShardPass(Strategy.parse("tensor=2")).run(new Module(builder.finish()));
    Schedule schedule =
        Scheduler.schedule(
            Localization.of(module, 1),
            TargetLibrary.find("siracusa:chips=2"),
            SchedulerOptions.STANDARD);
    verify("two-chips", schedule);
  }

  /** Returns loops with uneven tiles and a weight in L3. */
  @Test
  void manyTiles() throws IOException {
    Tensor weight = ramp(HandMadeSchedule.INNER, HandMadeSchedule.COLUMNS);
    verify("many-tiles", HandMadeSchedule.schedule(weight, ramp(HandMadeSchedule.COLUMNS)));
  }

  /** Parts of one row are received in place, so there is no message buffer. */
  @Test
  void exchangesInPlaceHaveNoMessageBuffer() throws IOException {
    GraphBuilder builder = new GraphBuilder("product");
    Value x = builder.input("x", TensorType.of(ElementType.F32, 1, 16));
    Value product =
        builder
            .at("/MatMul")
            .add(new Contraction.MatMul(ElementType.F32), x, builder.constant(ramp(16, 32)));
    builder.output("y", builder.add(new Reduction.Softmax(1, false), product));
    Strategy strategy = Strategy.parse("tensor=2");
    Program program = Localization.of(new ShardPass(strategy).run(new Module(builder.finish())), 1);
    Schedule schedule =
        Scheduler.schedule(
            program, TargetLibrary.find("siracusa:chips=2"), SchedulerOptions.STANDARD);
    for (EmittedFile file : ProgramPrinter.emit(schedule, 8).files()) {
      if (file.path().equals("chip1_messages.c")) {
        assertThat(file.text()).contains(".vector = ").doesNotContain("_message");
        return;
      }
    }
    fail("no messages");
  }

  private static Tensor ramp(long... extents) {
    Shape shape = Shape.of(extents);
    float[] data = new float[(int) shape.elements()];
    for (int i = 0; i < data.length; i++) {
      data[i] = i * 0.25f;
    }
    return Tensor.floats(shape, data);
  }

  private static void verify(String name, Schedule schedule) throws IOException {
    GoldenFile golden = GoldenFile.of("siracusa/" + name + ".golden");
    List<String> shown =
        List.of("role_0.c", "chip1_messages.c", "Makefile", "README.md", ProgramDescription.FILE);
    List<EmittedFile> files = ProgramPrinter.emit(schedule, 8).files();
    assertThat(files)
        .extracting(EmittedFile::path)
        .contains("role_0.c", "Makefile", "README.md", ProgramDescription.FILE);
    for (EmittedFile file : files) {
      if (shown.contains(file.path())) {
        golden.assertMatches(file.path(), file.text());
      }
    }
  }
}
