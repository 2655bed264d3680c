package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.Sharding;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that emitted classes keep the model's order of inputs, which callers pass by position. */
class PortOrderTest {
  private static final List<String> USED = List.of("x", "weight", "down", "skip");

  /** Inputs and outputs that no device or only some have are between the others. */
  private static Graph graph(List<String> order) {
    GraphBuilder builder = new GraphBuilder("ports");
    Map<String, Value> inputs = new HashMap<>();
    for (String name : order) {
      inputs.put(name, builder.input(name, TensorType.of(ElementType.F32, 6, 6)));
    }
    Structured.Linear linear = new Structured.Linear(false, false);
    Value up = builder.add(linear, inputs.get("x"), inputs.get("weight"));
    Value active = builder.add(new Elementwise.Unary(UnaryFunction.RELU), up);
    Value down = builder.add(linear, active, inputs.get("down"));
    Value sum = builder.add(new Elementwise.Binary(BinaryFunction.ADD), down, inputs.get("skip"));
    builder.output("z", sum);
    builder.output("passed", inputs.get("unread"));
    builder.output("active", active);
    builder.output("again", sum);
    builder.output("a", down);
    return builder.finish();
  }

  private static List<List<String>> orders() {
    List<List<String>> orders = new ArrayList<>();
    for (int shift = 0; shift < 6; shift++) {
      List<String> order = new ArrayList<>(USED);
      order.add(shift % 5, "unread");
      order.add(shift * 7 % 6, "0 unused");
      java.util.Collections.rotate(order, shift);
      orders.add(order);
    }
    return orders;
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "tensor=2,norm=root")
  void argumentsHaveTheOrderOfTheModelOnSeveralDevices(String strategy) {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      for (List<String> order : orders()) {
        Graph graph = graph(order);
        Module sharded = Sharding.of(new Module(graph), Strategy.parse(strategy)).sharded();
        EmittedJava emitted =
            JavaBackend.emit(Localization.of(sharded, 1), new JavaOptions("", "Model"));
        assertOrder(compiler, emitted, graph);
      }
    }
  }

  @Tag("exhaustive")
  @Test
  void argumentsHaveTheOrderOfTheModelOnEqualDevices() {
    argumentsHaveTheOrderOfTheModelOnSeveralDevices("tensor=3");
  }

  @Test
  void argumentsHaveTheOrderOfTheModelOnOneDevice() {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      for (List<String> order : orders()) {
        Graph graph = graph(order);
        assertOrder(
            compiler, JavaBackend.emit(new Module(graph), new JavaOptions("", "Model")), graph);
      }
    }
  }

  private static void assertOrder(ProgramCompiler compiler, EmittedJava emitted, Graph graph) {
    Random random = new Random(1);
    List<Tensor> inputs =
        graph.inputs().stream().map(input -> EmittedPrograms.random(random, input.type())).toList();
    List<Tensor> expected = Evaluator.run(graph, inputs);
    try (ProgramRunner runner = ProgramRunner.load(compiler, emitted)) {
      assertThat(runner.description().whole().inputs().stream().map(ProgramInterface.Port::name))
          .containsExactlyElementsOf(graph.inputs().stream().map(Value::name).toList());
      assertThat(runner.description().whole().outputs().stream().map(ProgramInterface.Port::name))
          .containsExactlyElementsOf(graph.outputs().stream().map(Graph.Output::name).toList());
      List<Tensor> found = runner.run(inputs);
      for (int i = 0; i < found.size(); i++) {
        EmittedPrograms.assertClose(
            expected.get(i), found.get(i), 1e-5, graph.outputs().get(i).name());
      }
    }
  }
}
