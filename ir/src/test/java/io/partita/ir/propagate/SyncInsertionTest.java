package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SyncInsertionTest {
  private static final Mesh MESH = Mesh.line("x", 3);

  private static List<String> text(Module module) {
    return module.graph().nodes().stream()
        .map(
            node ->
                node.op() instanceof Communication.Relayout change
                    ? change.mnemonic() + " \"" + node.name() + "\" to " + change.to()
                    : node.toString())
        .toList();
  }

  private static List<Resharding> changes(Module module) {
    LayoutInference layouts = LayoutInference.of(module);
    return module.graph().nodes().stream()
        .filter(node -> node.op() instanceof Communication.Relayout)
        .map(node -> new Resharding(layouts.layout(node.operand(0)), layouts.layout(node.result())))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 64})
  void blocksGetTwoSyncs(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, blocks.pinned(mesh));
    Module module = SyncInsertion.insert(plan, List.of());
    List<Resharding> changes = changes(module);
    assertThat(changes.stream().filter(Resharding::communicates))
        .hasSize(devices == 1 ? 0 : 4)
        .allMatch(change -> change.kinds().equals(Map.of("x", SyncKind.ALL_REDUCE)));
    // Of each block: weights and biases of q, k, v, o, up and down, and the skip connections.
    assertThat(changes.stream().filter(change -> !change.communicates()))
        .hasSize(devices == 1 ? 32 : 28);
    verifyLayouts(plan, module);
  }

  @Test
  void partiallyUsedValuesAreReshardedOnceAndLate() {
    GraphBuilder builder = new GraphBuilder("main");
    TensorType type = TensorType.of(ElementType.F32, 4, 6);
    Value x = builder.input("x", type);
    Value w = builder.input("w", TensorType.of(ElementType.F32, 6, 6));
    Value product = builder.at("product").add(new Structured.Linear(false, false), x, w);
    Value other = builder.at("other").add(new Elementwise.Unary(UnaryFunction.EXP), w);
    Value first = builder.at("first").add(new Elementwise.Unary(UnaryFunction.EXP), product);
    Value second = builder.at("second").add(new Elementwise.Unary(UnaryFunction.ABS), product);
    Value twice =
        builder.at("twice").add(new Elementwise.Binary(BinaryFunction.ADD), product, product);
    List.of(other, first, second, twice).forEach(value -> builder.output("" + value, value));
    Graph graph = builder.finish();
    Layout columns = Layout.of(MESH, Split.NONE, Split.even(MESH, 6, "x"));
    Layout rows = Layout.of(MESH, Split.even(MESH, 6, "x"), Split.NONE);
    Layout partial = Layout.replicated(MESH, 2).withPartial("x", ReductionKind.SUM);
    LayoutPlan plan =
        LayoutPropagation.run(
            graph, MESH, Map.of(x, columns, w, rows, product, partial, twice, partial));
    Module module = SyncInsertion.insert(plan, List.of());
    assertThat(text(module))
        .containsExactly(
            "linear \"product\"",
            "exp \"other\"",
            "sync \"product\" to [*,*]",
            "exp \"first\"",
            "abs \"second\"",
            "add \"twice\"",
            "sync \"twice\" to [*,*]");
    verifyLayouts(plan, module);
    List<Tensor> inputs =
        graph.inputs().stream().map(input -> Tensor.filled(input.type(), 2)).toList();
    assertThat(MeshEvaluator.run(module, inputs)).isEqualTo(Evaluator.run(graph, inputs));
  }

  @Test
  void statesKeepTheirLayout() {
    GraphBuilder builder = new GraphBuilder("main");
    TensorType type = TensorType.of(ElementType.I32, 4, 6);
    Value past = builder.input("past", type);
    Value step = builder.input("step", type);
    Value sum = builder.at("sum").add(new Elementwise.Binary(BinaryFunction.ADD), past, step);
    builder.output("present", sum);
    Graph graph = builder.finish();
    Layout rows = Layout.of(MESH, Split.even(MESH, 4, "x"), Split.NONE);
    LayoutPlan plan =
        LayoutPropagation.run(graph, MESH, Map.of(past, rows, sum, Layout.replicated(MESH, 2)));
    List<Module.State> states = List.of(new Module.State("past", "present"));
    Module module = SyncInsertion.insert(plan, states);
    assertThat(module.states()).isEqualTo(states);
    assertThat(module.placement().orElseThrow().inputs()).containsEntry("past", rows);
    Value output = module.graph().outputs().getFirst().value();
    assertThat(LayoutInference.of(module).layout(output)).isEqualTo(rows);
  }

  /** Tests that random modules have the planned layouts. */
  @Test
  void randomPlansAreFollowed() {
    verifyPlans(0, 300);
  }

  @Tag("thorough")
  @Test
  void moreRandomPlansAreFollowed() {
    verifyPlans(300, 1000);
  }

  private static void verifyPlans(int from, int to) {
    int syncs = 0;
    for (int seed = from; seed < to; seed++) {
      LayoutPlan plan = RandomPlans.draw(seed);
      Module module = SyncInsertion.insert(plan, List.of());
      verifyLayouts(plan, module);
      syncs += changes(module).size();
    }
    assertThat(syncs).isGreaterThan((to - from) / 2);
  }

  /**
   * Checks that each value has the planned layout, as the result of its node or of a sync, and that
   * each node has operands of the planned layouts, unless an axis of one device makes that
   * ambiguous.
   */
  private static void verifyLayouts(LayoutPlan plan, Module module) {
    LayoutInference found = LayoutInference.of(module);
    List<Node> nodes =
        module.graph().nodes().stream()
            .filter(node -> !(node.op() instanceof Communication.Relayout))
            .toList();
    assertThat(nodes.stream().map(Node::op))
        .containsExactlyElementsOf(plan.graph().nodes().stream().map(Node::op).toList());
    Map<Value, List<Node>> before = plan.graph().readers();
    Map<Value, List<Node>> after = module.graph().readers();
    for (int i = 0; i < plan.graph().inputs().size(); i++) {
      Value input = module.graph().inputs().get(i);
      assertThat(found.layout(input)).isEqualTo(plan.layout(plan.graph().inputs().get(i)));
    }
    boolean isTrivial = plan.mesh().axes().stream().anyMatch(axis -> axis.size() == 1);
    for (int i = 0; i < nodes.size(); i++) {
      Node planned = plan.graph().nodes().get(i);
      Node node = nodes.get(i);
      if (!isTrivial) {
        assertThat(node.operands().stream().map(found::layout))
            .containsExactlyElementsOf(plan.nodes().get(planned).operands());
      }
      for (int r = 0; r < node.results().size(); r++) {
        Value result = node.results().get(r);
        List<Layout> held =
            after.getOrDefault(result, List.of()).stream()
                .filter(reader -> reader.op() instanceof Communication.Relayout)
                .map(reader -> found.layout(reader.result()))
                .collect(Collectors.toList());
        held.add(found.layout(result));
        if (before.containsKey(planned.results().get(r))) {
          assertThat(held).contains(plan.layout(planned.results().get(r)));
        }
      }
    }
  }
}
