package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.RandomPlans;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that programs of whole models have the results of the models. */
class LocalizedModelsTest {
  private static List<Tensor> ordered(Graph graph, Map<String, Tensor> inputs) {
    return graph.inputs().stream().map(input -> inputs.get(input.name())).toList();
  }

  private static void verify(Module module, Program program, Draw draw) {
    Graph graph = module.graph();
    Map<String, Tensor> inputs = SampleValues.inputs(graph, draw);
    SortedMap<String, Tensor> found = new ProgramEvaluator(program, 1).run(inputs);
    List<Tensor> outputs = graph.outputs().stream().map(out -> found.get(out.name())).toList();
    CloseTensors.verify(outputs, Evaluator.run(graph, ordered(graph, inputs)));
  }

  /** Like {@link #randomModules}, with varying values between operations. */
  @Test
  void randomVaryingModules() {
    verifyVarying(0, 60);
  }

  @Tag("thorough")
  @Test
  void moreRandomVaryingModules() {
    verifyVarying(60, 200);
  }

  private static void verifyVarying(int from, int to) {
    int run = 0;
    for (int seed = from; seed < to; seed++) {
      Module module = SyncInsertion.insert(RandomPlans.draw(seed), List.of());
      Module varying = io.partita.ir.propagate.RandomMeshModules.varying(module, seed);
      Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(seed));
      List<Tensor> expected;
      Program program;
      try {
        expected = MeshEvaluator.run(module, ordered(module.graph(), inputs));
        program = Localization.of(varying, seed % 3);
      } catch (PartitaException indices) {
        continue; // drawn indices are out of range, or only a part would become partial
      }
      Map<String, Tensor> found = new ProgramEvaluator(program, seed % 3).run(inputs);
      CloseTensors.verify(
          varying.graph().outputs().stream().map(output -> found.get(output.name())).toList(),
          expected);
      run++;
    }
    assertThat(run).isGreaterThan((to - from) / 4);
  }

  /** Tests random graphs with random layouts. */
  @Test
  void randomModules() {
    verifyModules(0, 150);
  }

  @Tag("thorough")
  @Test
  void moreRandomModules() {
    verifyModules(150, 500);
  }

  private static void verifyModules(int from, int to) {
    int run = 0;
    for (int seed = from; seed < to; seed++) {
      LayoutPlan plan = RandomPlans.draw(seed);
      Module module = SyncInsertion.insert(plan, List.of());
      Program program = Localization.of(module, seed % 3);
      Graph graph = module.graph();
      Map<String, Tensor> inputs = SampleValues.inputs(graph, new Draw(seed));
      List<Tensor> expected;
      try {
        expected = MeshEvaluator.run(module, ordered(graph, inputs));
      } catch (PartitaException indices) {
        continue; // drawn indices are out of range
      }
      SortedMap<String, Tensor> found = new ProgramEvaluator(program, seed % 3).run(inputs);
      CloseTensors.verify(
          graph.outputs().stream().map(output -> found.get(output.name())).toList(), expected);
      run++;
    }
    assertThat(run).isGreaterThan((to - from) / 2);
  }

  /** Omits the zeros of devices without a part. */
  private static long weights(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Source.Constant && node.result().type().rank() > 0)
        .mapToLong(node -> node.result().type().bytes())
        .sum();
  }

  private static List<Node> exchanges(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Communication.Exchange)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7, 8, 64})
  void blocksByHeads(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, blocks.pinned(mesh));
    Module module = SyncInsertion.insert(plan, List.of());
    Program program = Localization.of(module, 1);
    long stored = 0;
    for (Module device : program.devices()) {
      assertThat(exchanges(device.graph())).hasSize(devices == 1 ? 0 : 4);
      stored += weights(device.graph());
    }
    // Only scales of norms are on several: those that have heads, inner features, or the output.
    long norm = blocks.norms.getFirst().definition().operand(1).type().bytes();
    long copies = 2L * Math.min(devices, 3) + 2L * Math.min(devices, 40) + devices;
    assertThat(stored).isEqualTo(weights(graph) + (copies - blocks.norms.size()) * norm);
    verify(module, program, new Draw(devices));
  }

  /** Tests skip connections and norms only on the root. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8})
  void blocksWithARoot(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    Layout whole = Layout.replicated(mesh, 3);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    pinned.put(blocks.input, whole.withAt("x", 0));
    blocks.sums.forEach(sum -> pinned.put(sum, whole.withAt("x", 0)));
    List<Value> inner = new ArrayList<>(blocks.norms);
    inner.removeLast();
    inner.forEach(norm -> pinned.put(norm, whole));
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    Module module = SyncInsertion.insert(plan, List.of());
    Program program = Localization.of(module, 1);
    long stored = program.devices().stream().mapToLong(device -> weights(device.graph())).sum();
    assertThat(stored).isEqualTo(weights(graph));
    verify(module, program, new Draw(devices));
  }

  /** Tests caches of 3 heads on 1 to 5 devices, some without heads, over four runs. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void statesStayOnTheirDevices(int devices) {
    GraphBuilder builder = new GraphBuilder("decoder");
    TensorType cacheType = TensorType.of(ElementType.F32, 1, 3, 4, 2);
    Value past = builder.input("past", cacheType);
    Value update = builder.input("update", TensorType.of(ElementType.F32, 1, 3, 1, 2));
    Value start = builder.input("start", TensorType.of(ElementType.I64, 1));
    Value present = builder.add(new Structured.CacheUpdate(2, false), past, update, start);
    Op sum = new Reduction.Reduce(ReductionKind.SUM, List.of(1), true);
    builder.output("present", present);
    builder.output("y", builder.add(sum, present));
    Graph graph = builder.finish();
    Mesh mesh = Mesh.line("x", devices);
    Split heads = Split.even(mesh, 3, "x");
    Layout byHead = Layout.of(mesh, Split.NONE, heads, Split.NONE, Split.NONE);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, Map.of(past, byHead));
    List<Module.State> states = List.of(new Module.State("past", "present"));
    Program program = Localization.of(SyncInsertion.insert(plan, states), 1);
    for (int device = 0; device < devices; device++) {
      Module module = program.devices().get(device);
      assertThat(module.states()).isEqualTo(device < 3 ? states : List.of());
      boolean hasPast =
          module.graph().inputs().stream().anyMatch(input -> input.name().equals("past"));
      assertThat(hasPast).isEqualTo(device < 3);
    }
    ProgramEvaluator evaluator = new ProgramEvaluator(program, 1);
    Tensor cache = Tensor.filled(cacheType, 0);
    for (int position = 0; position < 4; position++) {
      Tensor token = SampleValues.value(update.type(), new Draw(position));
      Tensor at = Tensor.longs(Shape.of(1), position);
      List<Tensor> expected = Evaluator.run(graph, List.of(cache, token, at));
      SortedMap<String, Tensor> found = evaluator.run(Map.of("update", token, "start", at));
      CloseTensors.verify(List.of(found.get("present"), found.get("y")), expected);
      cache = expected.getFirst();
    }
  }
}
