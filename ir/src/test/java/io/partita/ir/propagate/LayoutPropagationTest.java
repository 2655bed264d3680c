package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutPropagationTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 64})
  void twoAllReducesPerBlockAndNoMatrixStoredTwice(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, blocks.pinned(mesh));
    // One device has nobody to talk to.
    assertThat(plan.syncs()).hasSize(devices == 1 ? 0 : 4);
    for (ReshardPlace sync : plan.syncs()) {
      assertThat(sync.change().kinds()).containsExactly(Map.entry("x", SyncKind.ALL_REDUCE));
      assertThat(sync.isAtDefinition()).isTrue();
    }
    assertThat(
            graph.nodes().stream()
                .filter(node -> node.op() instanceof Source.Constant)
                .map(node -> node.results().getFirst())
                .filter(value -> value.type().rank() == 2))
        .isNotEmpty()
        .allSatisfy(
            value ->
                assertThat(plan.layout(value).bytes(value.type()).stream().mapToLong(b -> b).sum())
                    .as(plan.layout(value).toString())
                    .isEqualTo(value.type().bytes()));
    verifyClose(graph, plan, new Draw(3));
  }

  @Test
  void moreDevicesThanKvHeadsShareKeysAndValues() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.of(new MeshAxis("x", 3), new MeshAxis("y", 2));
    Map<Value, Layout> pinned = new HashMap<>();
    Split heads =
        Split.even(
            mesh, DecoderBlocks.HEADS * DecoderBlocks.HEAD, DecoderBlocks.HEAD, List.of("x", "y"));
    pinned.put(blocks.queryWeights.getFirst(), Layout.of(mesh, Split.NONE, heads));
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    Node attention =
        graph.nodes().stream()
            .filter(n -> n.op() instanceof Structured.Attention)
            .findFirst()
            .get();
    assertThat(plan.layout(attention.operand(0))).hasToString("[*,*{x,y},*,*]");
    assertThat(plan.layout(attention.operand(1))).hasToString("[*,*{x},*,*]");
    assertThat(plan.layout(attention.operand(1)).replication()).isEqualTo(2);
    verifyClose(graph, plan, new Draw(4));
  }

  @Test
  void splitTokensGatherKeysAndValuesOnly() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", 3);
    Split tokens = Split.even(mesh, DecoderBlocks.SEQ, "x");
    LayoutPlan plan =
        LayoutPropagation.run(
            graph, mesh, Map.of(blocks.input, Layout.of(mesh, Split.NONE, tokens, Split.NONE)));
    assertThat(plan.syncs())
        .hasSize(4)
        .allSatisfy(
            sync ->
                assertThat(sync.change().kinds())
                    .containsExactly(Map.entry("x", SyncKind.ALL_GATHER)));
    verifyClose(graph, plan, new Draw(5));
  }

  @Test
  void splitVocabulariesNeedOneSumAndSplitLogits() {
    GraphBuilder builder = new GraphBuilder("tied");
    Draw draw = new Draw(11);
    Value ids = builder.input("ids", TensorType.of(ElementType.I64, 1, DecoderBlocks.SEQ));
    Value table =
        builder.constant(
            SampleValues.value(TensorType.of(ElementType.F32, 50, DecoderBlocks.MODEL), draw));
    Value embedded = builder.add(new Structured.Embedding(), table, ids);
    builder.output("logits", builder.add(new Structured.Linear(true, false), embedded, table));
    Graph graph = builder.finish();
    Mesh mesh = Mesh.line("x", 3);
    Layout rows = Layout.of(mesh, Split.even(mesh, 50, "x"), Split.NONE);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, Map.of(table, rows));
    assertThat(plan.syncs()).hasSize(1);
    assertThat(plan.layout(graph.outputs().getFirst().value())).hasToString("[*,*,*{x}]");
    List<Tensor> inputs = List.of(Tensor.longs(Shape.of(1, DecoderBlocks.SEQ), 0, 49, -1, 17, 33));
    // Exactly one device has each row; the sum adds zeros to it.
    assertThat(MeshEvaluator.run(SyncInsertion.insert(plan, List.of()), inputs))
        .isEqualTo(Evaluator.run(graph, inputs));
  }

  @Test
  void openDimensionsAreDiagnosed() {
    GraphBuilder builder = new GraphBuilder("open");
    TensorType type = new TensorType(ElementType.F32, Shape.of(Dim.symbol("seq")));
    builder.output("y", builder.input("x", type));
    Graph graph = builder.finish();
    assertThatThrownBy(() -> LayoutPropagation.run(graph, Mesh.line("x", 2), Map.of()))
        .hasMessage(
            "error P3407: a dimension must be a number before it is split over devices\n"
                + "  where:     input x\n  expected:  numbers\n  found:     f32[seq]\n"
                + "  fix:       bind the symbol: --dim seq=N");
  }

  /** Tests that random graphs with random layouts have the same results on devices. */
  @Tag("thorough")
  @Test
  void randomGraphsWithRandomLayoutsAgree() {
    int run = 0;
    int synced = 0;
    for (int seed = 0; seed < 400; seed++) {
      Draw draw = new Draw(seed);
      Graph graph = RandomPlans.graph(draw);
      Mesh mesh = RandomPlans.mesh(draw);
      Map<Value, Layout> pinned = RandomPlans.pinned(draw, graph, mesh);
      LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
      pinned.forEach((value, layout) -> assertThat(plan.layout(value)).isEqualTo(layout));
      synced += plan.syncs().size();
      try {
        verifyClose(graph, plan, draw);
        run++;
      } catch (PartitaException notThese) {
        // Random indices: the whole graph can't be evaluated either.
        List<Tensor> inputs = inputs(graph, draw);
        assertThatThrownBy(() -> Evaluator.run(graph, inputs)).as("seed " + seed).isNotNull();
      }
    }
    assertThat(run).isGreaterThan(300);
    assertThat(synced).isGreaterThan(150);
  }

  private static List<Tensor> inputs(Graph graph, Draw draw) {
    return graph.inputs().stream().map(input -> SampleValues.value(input.type(), draw)).toList();
  }

  static void verifyClose(Graph graph, LayoutPlan plan, Draw draw) {
    List<Tensor> inputs = inputs(graph, draw);
    List<Tensor> actual = MeshEvaluator.run(SyncInsertion.insert(plan, List.of()), inputs);
    CloseTensors.verify(actual, Evaluator.run(graph, inputs));
  }
}
