package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;

/** Programs of one device, and targets with little memory. */
final class SmallPrograms {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");

  /** The size of Siracusa's L2, in KiB. */
  private static final int RESERVED = 128;

  private SmallPrograms() {}

  static Program of(Consumer<GraphBuilder> body) {
    return of(List.of(), body);
  }

  static Program of(List<Module.State> states, Consumer<GraphBuilder> body) {
    GraphBuilder builder = new GraphBuilder("small");
    body.accept(builder);
    Graph graph = builder.finish();
    Mesh mesh = Mesh.line("chips", 1);
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    graph.inputs().forEach(value -> inputs.put(value.name(), whole(mesh, value.type())));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    graph.outputs().forEach(out -> outputs.put(out.name(), whole(mesh, out.value().type())));
    return new Program(mesh, List.of(new Module(graph, states)), inputs, outputs);
  }

  private static ShardedType whole(Mesh mesh, TensorType type) {
    return new ShardedType(type, Layout.replicated(mesh, type.rank()));
  }

  static Value input(GraphBuilder graph, String name, long... extents) {
    return graph.input(name, TensorType.of(ElementType.F32, extents));
  }

  static Value unary(GraphBuilder graph, UnaryFunction function, Value x) {
    return graph.at(function.name()).add(new Elementwise.Unary(function), x);
  }

  /** Returns a product with its own weight. */
  static Value linear(GraphBuilder graph, Value x, long in, long out, int seed) {
    Value weight = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, in, out), seed));
    return graph.at("linear " + seed).add(new Structured.Linear(false, false), x, weight);
  }

  /** Returns a chain of products with square weights. */
  static Program layers(int count, long width) {
    return of(
        graph -> {
          Value x = input(graph, "x", 1, width);
          for (int i = 0; i < count; i++) {
            x = unary(graph, UnaryFunction.RELU, linear(graph, x, width, width, i + 1));
          }
          graph.output("y", x);
        });
  }

  /** Returns caches of 8 rows of {@code width}, each with an update and a use. */
  static Program caches(int count, long width) {
    List<Module.State> states = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      states.add(new Module.State("past " + i, "present " + i));
    }
    return of(
        states,
        graph -> {
          Value x = input(graph, "x", 1, 1, 1, width);
          Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
          for (int i = 0; i < count; i++) {
            Value past = input(graph, "past " + i, 1, 1, 8, width);
            Value present =
                graph
                    .at("update " + i)
                    .add(new Structured.CacheUpdate(2, false), past, x, position);
            graph.output("present " + i, present);
            x =
                graph
                    .at("sum " + i)
                    .add(new Reduction.Reduce(ReductionKind.SUM, List.of(2), true), present);
          }
          graph.output("y", x);
        });
  }

  static Schedule schedule(Program program) {
    return Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD);
  }

  static ChipSchedule only(Schedule schedule) {
    assertThat(schedule.roles()).hasSize(1);
    return schedule.roles().getFirst();
  }

  /** Returns the name of the node of each step, without copies of weights ahead of their loops. */
  static List<String> nodes(ChipSchedule chip) {
    return chip.steps().stream()
        .filter(
            step ->
                !(step instanceof ScheduleStep.Preload
                    || step instanceof ScheduleStep.AwaitPreload))
        .map(step -> step.origin().name())
        .toList();
  }

  /**
   * @param kibibytes the available L2
   */
  static TargetDescription withL2(int kibibytes) {
    Quantity bytes = new Quantity(RESERVED + kibibytes, Unit.KIB);
    return TargetChange.set(SIRACUSA, Map.of("l2", bytes));
  }

  static TargetDescription with(String memory, long bytes) {
    return TargetChange.set(SIRACUSA, Map.of(memory, new Quantity(bytes, Unit.B)));
  }
}
