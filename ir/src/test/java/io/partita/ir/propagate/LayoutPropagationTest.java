package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
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
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutPropagationTest {
  private static final int SEQ = 5;
  private static final int MODEL = 24;
  private static final int HEADS = 6;
  private static final int KV_HEADS = 3;
  private static final int HEAD = 4;
  private static final int INNER = 40;

  /** Decoder blocks with grouped heads, biases, and what must be split. */
  private static final class Blocks {
    final GraphBuilder builder = new GraphBuilder("blocks");
    final Draw draw = new Draw(7);
    final List<Value> queryWeights = new ArrayList<>();
    final List<Value> innerWeights = new ArrayList<>();
    final Value input = builder.input("x", TensorType.of(ElementType.F32, 1, SEQ, MODEL));

    Graph build(int count) {
      Value x = input;
      for (int i = 0; i < count; i++) {
        x = add(x, attention(norm(x)));
        x = add(x, ffn(norm(x)));
      }
      builder.output("y", norm(x));
      return builder.finish();
    }

    Value weight(long... extents) {
      return builder.constant(SampleValues.value(TensorType.of(ElementType.F32, extents), draw));
    }

    Value add(Value left, Value right) {
      return builder.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
    }

    Value norm(Value x) {
      return builder.add(
          new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false), x, weight(MODEL));
    }

    Value heads(Value x, int heads, boolean query) {
      Value weight = weight(MODEL, heads * HEAD);
      if (query) {
        queryWeights.add(weight);
      }
      Value projected =
          builder.add(new Structured.Linear(false, true), x, weight, weight(heads * HEAD));
      Value split = builder.add(new Movement.Reshape(Shape.of(1, SEQ, heads, HEAD)), projected);
      return builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), split);
    }

    Value attention(Value x) {
      Value q = heads(x, HEADS, true);
      Value k = heads(x, KV_HEADS, false);
      Value v = heads(x, KV_HEADS, false);
      Op attention = new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, false);
      Value mixed = builder.add(attention, q, k, v);
      Value back = builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), mixed);
      Value flat = builder.add(new Movement.Reshape(Shape.of(1, SEQ, HEADS * HEAD)), back);
      return builder.add(
          new Structured.Linear(false, true), flat, weight(HEADS * HEAD, MODEL), weight(MODEL));
    }

    Value ffn(Value x) {
      Value up = weight(MODEL, INNER);
      innerWeights.add(up);
      return builder.add(
          new Structured.Ffn(UnaryFunction.GELU, false, false, true, true),
          x,
          up,
          weight(INNER),
          weight(INNER, MODEL),
          weight(MODEL));
    }

    /** Queries by whole groups of heads, networks by inner features. */
    Map<Value, Layout> pinned(Mesh mesh) {
      Map<Value, Layout> pinned = new HashMap<>();
      long unit = HEADS / KV_HEADS * HEAD;
      Split heads = Split.even(mesh, HEADS * HEAD, unit, List.of("x"));
      queryWeights.forEach(weight -> pinned.put(weight, Layout.of(mesh, Split.NONE, heads)));
      Split inner = Split.even(mesh, INNER, "x");
      innerWeights.forEach(weight -> pinned.put(weight, Layout.of(mesh, Split.NONE, inner)));
      return pinned;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 64})
  void twoAllReducesABlockAndNoMatrixTwice(int devices) {
    Blocks blocks = new Blocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, blocks.pinned(mesh));
    // One device has nobody to talk to.
    assertThat(plan.syncs()).hasSize(devices == 1 ? 0 : 4);
    for (ReshardPlace sync : plan.syncs()) {
      assertThat(sync.change().kinds()).containsExactly(Map.entry("x", SyncKind.ALL_REDUCE));
      assertThat(sync.isAtDefinition()).isTrue();
    }
    for (Node node : graph.nodes()) {
      Value value = node.results().getFirst();
      if (node.op() instanceof Source.Constant && value.type().rank() == 2) {
        long bytes = plan.layout(value).bytes(value.type()).stream().mapToLong(b -> b).sum();
        assertThat(bytes).as(plan.layout(value).toString()).isEqualTo(value.type().bytes());
      }
    }
    verifyClose(graph, plan, new Draw(3));
  }

  @Test
  void moreDevicesThanKvHeadsShareKeysAndValues() {
    Blocks blocks = new Blocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.of(new MeshAxis("x", 3), new MeshAxis("y", 2));
    Map<Value, Layout> pinned = new HashMap<>();
    Split heads = Split.even(mesh, HEADS * HEAD, HEAD, List.of("x", "y"));
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
    Blocks blocks = new Blocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", 3);
    Split tokens = Split.even(mesh, SEQ, "x");
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
  void aSplitVocabularyNeedsOneSumAndLeavesLogitsSplit() {
    GraphBuilder builder = new GraphBuilder("tied");
    Draw draw = new Draw(11);
    Value ids = builder.input("ids", TensorType.of(ElementType.I64, 1, SEQ));
    Value table =
        builder.constant(SampleValues.value(TensorType.of(ElementType.F32, 50, MODEL), draw));
    Value embedded = builder.add(new Structured.Embedding(), table, ids);
    builder.output("logits", builder.add(new Structured.Linear(true, false), embedded, table));
    Graph graph = builder.finish();
    Mesh mesh = Mesh.line("x", 3);
    Layout rows = Layout.of(mesh, Split.even(mesh, 50, "x"), Split.NONE);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, Map.of(table, rows));
    assertThat(plan.syncs()).hasSize(1);
    assertThat(plan.layout(graph.outputs().getFirst().value())).hasToString("[*,*,*{x}]");
    List<Tensor> inputs = List.of(Tensor.longs(Shape.of(1, SEQ), 0, 49, -1, 17, 33));
    // Exactly one device has each row; the sum adds zeros to it.
    assertThat(MeshEvaluator.run(plan, inputs)).isEqualTo(Evaluator.run(graph, inputs));
  }

  @Test
  void whatIsDroppedVariesToTheEnd() {
    Blocks blocks = new Blocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.line("x", 2);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    Node sum =
        graph.nodes().stream()
            .filter(node -> node.op() instanceof Elementwise.Binary)
            .findFirst()
            .orElseThrow();
    pinned.put(sum.result(), Layout.replicated(mesh, 3).withVarying(List.of("x")));
    // The network's weights are whole: a varying value can't meet a split one along the same axis.
    pinned.keySet().removeAll(blocks.innerWeights);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    assertThat(plan.syncs()).isEmpty();
    Value output = graph.outputs().getFirst().value();
    assertThat(plan.layout(output)).hasToString("[*,*,*] varying(x)");
    List<Tensor> inputs = inputs(graph, new Draw(1));
    assertThatThrownBy(() -> MeshEvaluator.run(plan, inputs)).hasMessageContaining("P3405");
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
                + "  where:     value x\n  expected:  numbers\n  found:     f32[seq]\n"
                + "  fix:       bind its symbols, such as --dim seq=128");
  }

  /** Any operations, any values pinned to any layout: all devices together give the same. */
  @Test
  void randomGraphsWithRandomLayoutsGiveTheSame() {
    int run = 0;
    int synced = 0;
    for (int seed = 0; seed < 400; seed++) {
      Draw draw = new Draw(seed);
      Graph graph = graph(draw);
      Mesh mesh = Mesh.of(new MeshAxis("x", draw.from(2, 4)), new MeshAxis("y", draw.from(1, 2)));
      Map<Value, Layout> pinned = new HashMap<>();
      List<Value> values = new ArrayList<>(graph.inputs());
      graph.nodes().forEach(node -> values.addAll(node.results()));
      for (int i = draw.from(1, 3); i > 0; i--) {
        Value value = draw.one(values);
        pinned.put(value, layout(draw, mesh, value.type()));
      }
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

  private static Layout layout(Draw draw, Mesh mesh, TensorType type) {
    Layout layout = Layout.replicated(mesh, type.rank());
    for (MeshAxis axis : mesh.axes()) {
      int dim = draw.from(-1, type.rank() - 1);
      if (dim >= 0 && layout.splits().get(dim).isNone()) {
        layout = layout.with(dim, Split.even(mesh, type.dim(dim).value(), axis.name()));
      }
    }
    return layout;
  }

  /** Of operations on i32, so that sums are exact, and those that read or give others. */
  private static Graph graph(Draw draw) {
    GraphBuilder builder = new GraphBuilder("random");
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Class<? extends Op> kind = draw.one(OpSamples.kinds());
      if (Movement.class.isAssignableFrom(kind)
              && kind.getSimpleName().matches("(Gather|Scatter).*")
          || kind == Structured.Embedding.class) {
        continue;
      }
      OpSample sample = SampleValues.draw(kind, draw);
      boolean narrow =
          sample.operands().stream()
              .anyMatch(t -> t.element().isFloat() && t.element() != ElementType.F32);
      if (narrow || sample.op() instanceof Source) {
        continue;
      }
      List<Value> operands = new ArrayList<>();
      for (TensorType type : sample.operands()) {
        List<Value> alike = values.stream().filter(value -> value.type().equals(type)).toList();
        operands.add(
            alike.isEmpty() || draw.oneIn(4)
                ? builder.input("x" + values.size() + operands.size(), type)
                : draw.one(alike));
      }
      values.addAll(operands);
      values.addAll(builder.addNode(sample.op(), operands).results());
    }
    if (values.isEmpty()) {
      values.add(builder.input("x", TensorType.of(ElementType.I32, 3, 4)));
    }
    for (int i = 0; i < values.size(); i++) {
      builder.output("y" + i, values.get(i));
    }
    return builder.finish();
  }

  private static List<Tensor> inputs(Graph graph, Draw draw) {
    return graph.inputs().stream().map(input -> SampleValues.value(input.type(), draw)).toList();
  }

  /**
   * Integers are equal; floats to 1e-4 of the largest magnitude: a few blocks of sums of at most 64
   * products, each rounded to 2^-24.
   */
  private static void verifyClose(Graph graph, LayoutPlan plan, Draw draw) {
    List<Tensor> inputs = inputs(graph, draw);
    List<Tensor> expected = Evaluator.run(graph, inputs);
    List<Tensor> actual = MeshEvaluator.run(plan, inputs);
    for (int i = 0; i < expected.size(); i++) {
      Tensor a = actual.get(i);
      Tensor b = expected.get(i);
      if (!b.element().isFloat()) {
        assertThat(a).isEqualTo(b);
        continue;
      }
      double magnitude = 0;
      for (double value : b.doubles()) {
        magnitude = Math.max(magnitude, Double.isFinite(value) ? Math.abs(value) : 0);
      }
      for (int at = 0; at < b.size(); at++) {
        double x = a.getDouble(at);
        double y = b.getDouble(at);
        if (Double.compare(x, y) != 0 && x != y) {
          assertThat(Math.abs(x - y)).isLessThanOrEqualTo(1e-4 * (1 + magnitude));
        }
      }
    }
  }
}
