package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.backend.emitted.run.Port;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Elementwise;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Programs of many steps, built with the optimisation that users have. */
@ExtendWith(WithCompiler.class)
class LongProgramTest {
  /** Each step has a size of its own, and so a loop of tiles that is called once. */
  private static final int STEPS = 200;

  /** What kernels may take. */
  private static final String FRAMES = "FLAGS=-Wframe-larger-than=1024";

  @TempDir private Path folder;

  private final List<Tensor> values = new ArrayList<>();
  private final SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
  private final SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();

  private Graph functions() {
    GraphBuilder graph = new GraphBuilder("long");
    for (int i = 0; i < STEPS; i++) {
      TensorType type = TensorType.of(ElementType.F32, i + 64L);
      ShardedType whole = new ShardedType(type, Layout.replicated(Mesh.of(), 1));
      values.add(Tensor.filled(type, i));
      inputs.put("x" + i, whole);
      outputs.put("y" + i, whole);
      graph.output(
          "y" + i, graph.add(new Elementwise.Unary(UnaryFunction.ABS), graph.input("x" + i, type)));
    }
    return graph.finish();
  }

  /** Tests that the compiler accepts the frame of the function that calls all steps. */
  @Test
  void framesDontGrowWithTheNumberOfSteps() throws IOException {
    Graph graph = functions();
    Schedule schedule =
        Scheduler.schedule(
            new Program(Mesh.of(), List.of(new Module(graph)), inputs, outputs),
            TargetLibrary.find("siracusa:chips=1"),
            new SchedulerOptions(OptionalLong.empty(), true, true));
    OutputFolder.write(ProgramPrinter.emit(schedule, 8).files(), folder, path -> false);
    Build.run(folder, Port.HOST, List.of(FRAMES));
    try (InteractiveProgram program =
        InteractiveProgram.start(folder, Port.HOST, List.of(), Duration.ofMinutes(2))) {
      assertThat(program.run(values)).isEqualTo(Evaluator.run(graph, values));
    }
  }
}
