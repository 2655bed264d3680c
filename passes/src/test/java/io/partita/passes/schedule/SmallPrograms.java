package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Programs of one device, and targets that are short of memory. */
final class SmallPrograms {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");

  /** Of Siracusa's L2, in KiB. */
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
    SortedMap<String, ShardedType> inputs = new TreeMap<>();
    graph.inputs().forEach(value -> inputs.put(value.name(), whole(mesh, value.type())));
    SortedMap<String, ShardedType> outputs = new TreeMap<>();
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

  /** A product with a weight of its own. */
  static Value linear(GraphBuilder graph, Value x, long in, long out, int seed) {
    Value weight = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, in, out), seed));
    return graph.at("linear " + seed).add(new Structured.Linear(false, false), x, weight);
  }

  /** Products with square weights, one after the other. */
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

  static Schedule schedule(Program program) {
    return Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD);
  }

  /**
   * @param kibibytes of L2 that programs may use
   */
  static TargetDescription withL2(int kibibytes) {
    Quantity bytes = new Quantity(RESERVED + kibibytes, Unit.KIB);
    return TargetChange.set(SIRACUSA, Map.of("l2", bytes));
  }

  static TargetDescription with(String memory, long bytes) {
    return TargetChange.set(SIRACUSA, Map.of(memory, new Quantity(bytes, Unit.B)));
  }
}
