package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.ScheduleParser;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Caches in L3, of which only changed lines are written back, keep what they held. */
@ExtendWith(WithCompiler.class)
class LinesInL3Test {
  private static final int CACHES = 4;
  private static final int HEADS = 4;
  private static final int CAPACITY = 16;
  private static final int WIDTH = 128;
  private static final int RUNS = 5;

  @TempDir private Path folder;

  private static Graph graph(int tokens, boolean circular) {
    GraphBuilder graph = new GraphBuilder("caches");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, HEADS, tokens, WIDTH));
    Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
    for (int i = 0; i < CACHES; i++) {
      Value past =
          graph.input("past " + i, TensorType.of(ElementType.F32, 1, HEADS, CAPACITY, WIDTH));
      Value present = graph.add(new Structured.CacheUpdate(2, circular), past, x, position);
      graph.output("present " + i, present);
      graph.output(
          "sum " + i,
          graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(3), false), present));
    }
    return graph.finish();
  }

  /** Leaves 80 KiB of L2 to two of the caches and the activations. */
  private static Schedule schedule(Graph graph) {
    Mesh mesh = Mesh.line("chips", 1);
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    graph.inputs().forEach(each -> inputs.put(each.name(), whole(mesh, each.type())));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    graph.outputs().forEach(each -> outputs.put(each.name(), whole(mesh, each.value().type())));
    List<Module.State> states = new ArrayList<>();
    for (int i = 0; i < CACHES; i++) {
      states.add(new Module.State("past " + i, "present " + i));
    }
    Program program = new Program(mesh, List.of(new Module(graph, states)), inputs, outputs);
    Quantity room = new Quantity(208, Unit.KIB);
    return Scheduler.schedule(
        program,
        TargetChange.set(TargetLibrary.find("siracusa"), Map.of("l2", room)),
        SchedulerOptions.STANDARD);
  }

  private static ShardedType whole(Mesh mesh, TensorType type) {
    return new ShardedType(type, Layout.replicated(mesh, type.rank()));
  }

  private static Tensor integers(TensorType type, Random random) {
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-8, 9);
    }
    return Tensor.of(type, values);
  }

  /** Circular positions wrap in the first run. */
  private static Tensor position(int run, int tokens, boolean circular) {
    long next = (long) run * tokens;
    long[] at = {circular ? CAPACITY - 2 + next : Math.min(next, CAPACITY - tokens)};
    return Tensor.of(TensorType.of(ElementType.I64, 1), MemorySegment.ofArray(at));
  }

  @ParameterizedTest(name = "{0} tokens, circular: {1}, transfers {2}")
  @CsvSource({
    "1, false, late",
    "1, true, late",
    "3, true, early",
    "4, false, early",
    "16, false, late"
  })
  void theyAgreeWithTheGraph(int tokens, boolean circular, String transfers) throws IOException {
    Graph graph = graph(tokens, circular);
    Schedule schedule = schedule(graph);
    List<StartTransfer> spills =
        schedule.roles().getFirst().steps().stream()
            .filter(step -> step instanceof StartTransfer start && !start.fetch())
            .map(StartTransfer.class::cast)
            .toList();
    assertThat(spills).isNotEmpty();
    assertThat(spills)
        .extracting(StartTransfer::bytes)
        .containsOnly((long) HEADS * tokens * WIDTH * Float.BYTES);
    assertThat(spills)
        .as("all lines are one transfer")
        .allMatch(start -> start.lines().isPresent() == tokens < CAPACITY);
    ScheduleEvaluator evaluator =
        new ScheduleEvaluator(ScheduleParser.parse(SchedulePrinter.print(schedule)));
    List<Tensor> states = new ArrayList<>();
    for (int i = 0; i < CACHES; i++) {
      states.add(Tensor.filled(graph.inputs().get(2 + i).type(), 0));
    }
    Random random = new Random(7);
    try (InteractiveProgram program = SanitisedBuild.start(schedule, folder, transfers)) {
      for (int run = 0; run < RUNS; run++) {
        Tensor x = integers(graph.inputs().getFirst().type(), random);
        Tensor position = position(run, tokens, circular);
        List<Tensor> all = new ArrayList<>(List.of(x, position));
        all.addAll(states);
        List<Tensor> results = Evaluator.run(graph, all);
        Map<String, Tensor> evaluated = evaluator.run(Map.of("x", x, "position", position));
        List<Tensor> found = program.run(List.of(x, position));
        for (int i = 0; i < CACHES; i++) {
          states.set(i, results.get(2 * i));
          Tensor sum = results.get(2 * i + 1);
          assertThat(evaluated.get("sum " + i)).as("run %d", run).isEqualTo(sum);
          assertThat(found.get(i)).as("run %d in C", run).isEqualTo(sum);
        }
      }
    }
  }
}
