package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests layouts at one place of an axis: roots and pipeline stages. */
class PlacedPropagationTest {
  private static final Layout WHOLE = Layout.replicated(Mesh.line("x", 4), 3);

  private static List<SyncKind> kinds(LayoutPlan plan) {
    return plan.syncs().stream().flatMap(sync -> sync.change().kinds().values().stream()).toList();
  }

  /** Returns the bytes of a value on all devices. */
  private static long bytes(LayoutPlan plan, Value value) {
    return plan.layout(value).bytes(value.type()).stream().mapToLong(bytes -> bytes).sum();
  }

  private static List<Value> constants(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Source.Constant)
        .map(Node::result)
        .toList();
  }

  /**
   * Section IV of the paper: skip connections and norms on the root; each sync is a reduce and a
   * broadcast.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 8})
  void theResidualStreamIsOnlyOnTheRoot(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    Layout whole = Layout.replicated(mesh, 3);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    pinned.put(blocks.input, whole.withAt("x", 0));
    blocks.sums.forEach(sum -> pinned.put(sum, whole.withAt("x", 0)));
    List<Value> last = List.of(blocks.norms.removeLast());
    blocks.norms.forEach(norm -> pinned.put(norm, whole));
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    List<SyncKind> expected = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      expected.addAll(List.of(SyncKind.BROADCAST, SyncKind.REDUCE));
    }
    assertThat(kinds(plan)).containsExactlyElementsOf(expected);
    // The last norm isn't given to be anywhere, so it stays.
    assertThat(plan.layout(last.getFirst())).hasToString("[*,*,*] at(x: 0)");
    blocks.norms.addAll(last);
    for (Value norm : blocks.norms) {
      assertThat(plan.nodes().get(norm.definition()).devices()).containsExactly(0);
      assertThat(plan.layout(norm.definition().operand(1)).holders()).containsExactly(0);
    }
    LayoutPropagationTest.verifyClose(graph, plan, new Draw(3));
  }

  /** Values that all devices use are broadcast, because of the splits of their users. */
  @Test
  void splitUsersGetABroadcast() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.line("x", 3);
    Layout root = Layout.replicated(mesh, 3).withAt("x", 0);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    pinned.put(blocks.input, root);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    assertThat(kinds(plan))
        .containsExactly(SyncKind.BROADCAST, SyncKind.REDUCE, SyncKind.BROADCAST, SyncKind.REDUCE);
    assertThat(blocks.sums).isNotEmpty().allMatch(sum -> plan.layout(sum).equals(root));
    assertThat(blocks.norms).isNotEmpty().allMatch(norm -> plan.layout(norm).equals(root));
    LayoutPropagationTest.verifyClose(graph, plan, new Draw(8));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void stagesHoldTheirOperandsAndSendOnce(int stages) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(stages);
    Mesh mesh = Mesh.line("stage", stages);
    Layout whole = Layout.replicated(mesh, 3);
    Map<Value, Layout> pinned = new HashMap<>();
    pinned.put(blocks.input, whole.withAt("stage", 0));
    for (int stage = 1; stage < stages; stage++) {
      pinned.put(blocks.blockResults.get(stage - 1), whole.withAt("stage", stage));
    }
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    assertThat(plan.syncs()).hasSize(stages - 1).allMatch(ReshardPlace::isAtDefinition);
    assertThat(kinds(plan)).allMatch(SyncKind.SEND::equals);
    long[] held = new long[stages];
    for (Value weight : constants(graph)) {
      assertThat(bytes(plan, weight)).isEqualTo(weight.type().bytes());
      held[plan.layout(weight).holders().getFirst()] += weight.type().bytes();
    }
    // All blocks are alike; the last stage has one norm more.
    held[stages - 1] -= 4L * DecoderBlocks.MODEL;
    assertThat(held).containsOnly(held[0]);
    LayoutPropagationTest.verifyClose(graph, plan, new Draw(4));
  }

  /** Each stage has its own root; stages send from root to root. */
  @Test
  void stagesAndHeadsCompose() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.of(new MeshAxis("stage", 2), new MeshAxis("x", 3));
    Layout whole = Layout.replicated(mesh, 3);
    Map<Value, Layout> pinned = new HashMap<>();
    blocks.pinned(mesh).forEach((value, layout) -> pinned.put(value, layout));
    for (int block = 0; block < 2; block++) {
      for (Value weight : List.of(blocks.queryWeights.get(block), blocks.innerWeights.get(block))) {
        pinned.put(weight, pinned.get(weight).withAt("stage", block));
      }
      pinned.put(blocks.norms.get(2 * block), whole.withAt("stage", block));
      pinned.put(blocks.norms.get(2 * block + 1), whole.withAt("stage", block));
      pinned.put(blocks.sums.get(2 * block), whole.withAt("stage", block).withAt("x", 0));
    }
    pinned.put(blocks.input, whole.withAt("stage", 0).withAt("x", 0));
    pinned.put(blocks.blockResults.getFirst(), whole.withAt("stage", 1).withAt("x", 0));
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    assertThat(kinds(plan))
        .containsExactly(
            SyncKind.BROADCAST,
            SyncKind.REDUCE,
            SyncKind.BROADCAST,
            SyncKind.REDUCE,
            SyncKind.SEND,
            SyncKind.BROADCAST,
            SyncKind.REDUCE,
            SyncKind.BROADCAST,
            SyncKind.REDUCE);
    assertThat(constants(graph).stream().filter(weight -> weight.type().rank() == 2))
        .isNotEmpty()
        .allSatisfy(weight -> assertThat(bytes(plan, weight)).isEqualTo(weight.type().bytes()));
    LayoutPropagationTest.verifyClose(graph, plan, new Draw(5));
  }

  /** Returns {@code y = relu(a + b)} with its users. */
  private static final class Sum {
    final GraphBuilder builder = new GraphBuilder("sum");
    final TensorType type = TensorType.of(ElementType.F32, 1, 2, 3);
    final Value a = builder.input("a", type);
    final Value b = builder.constant(Tensor.filled(type, 2));
    final Value sum = builder.add(new Elementwise.Binary(BinaryFunction.ADD), a, b);
    final Value y = builder.add(new Elementwise.Unary(UnaryFunction.RELU), sum);

    LayoutPlan plan(Map<Value, Layout> pinned) {
      Graph graph = builder.finish();
      LayoutPlan plan = LayoutPropagation.run(graph, WHOLE.mesh(), pinned);
      LayoutPropagationTest.verifyClose(graph, plan, new Draw(6));
      return plan;
    }
  }

  @Test
  void valuesUsedAtOnePlaceAreComputedThere() {
    Sum graph = new Sum();
    graph.builder.output("y", graph.y);
    LayoutPlan plan = graph.plan(Map.of(graph.y, WHOLE.withAt("x", 2)));
    for (Value value : List.of(graph.a, graph.b, graph.sum, graph.y)) {
      assertThat(plan.layout(value)).hasToString("[*,*,*] at(x: 2)");
    }
    assertThat(plan.places()).isEmpty();
    assertThat(plan.nodes().get(graph.sum.definition()).devices()).containsExactly(2);
  }

  @Test
  void valuesUsedAtTwoPlacesAreComputedEverywhere() {
    Sum graph = new Sum();
    Value other = graph.builder.add(new Elementwise.Unary(UnaryFunction.TANH), graph.sum);
    graph.builder.output("y", graph.y);
    graph.builder.output("z", other);
    LayoutPlan plan =
        graph.plan(Map.of(graph.y, WHOLE.withAt("x", 2), other, WHOLE.withAt("x", 1)));
    assertThat(plan.layout(graph.sum).isReplicated()).isTrue();
    assertThat(plan.layout(graph.b).isReplicated()).isTrue();
    assertThat(plan.syncs()).isEmpty();
    assertThat(plan.nodes().get(other.definition()).devices()).containsExactly(1);
  }

  @Test
  void pinnedValuesAndOutputsAreComputedEverywhere() {
    Sum graph = new Sum();
    graph.builder.output("sum", graph.sum);
    graph.builder.output("y", graph.y);
    LayoutPlan plan = graph.plan(Map.of(graph.y, WHOLE.withAt("x", 2)));
    assertThat(plan.layout(graph.sum).isReplicated()).isTrue();
    Sum pinned = new Sum();
    pinned.builder.output("y", pinned.y);
    plan = pinned.plan(Map.of(pinned.y, WHOLE.withAt("x", 2), pinned.sum, WHOLE));
    assertThat(plan.layout(pinned.b).isReplicated()).isTrue();
    assertThat(plan.syncs()).isEmpty();
  }

  @Test
  void placesPropagateForwardToAPin() {
    Sum graph = new Sum();
    graph.builder.output("y", graph.y);
    LayoutPlan plan = graph.plan(Map.of(graph.a, WHOLE.withAt("x", 1)));
    assertThat(plan.layout(graph.y)).hasToString("[*,*,*] at(x: 1)");
    assertThat(plan.layout(graph.b)).hasToString("[*,*,*] at(x: 1)");
    assertThat(plan.places()).isEmpty();
    Sum moved = new Sum();
    moved.builder.output("y", moved.y);
    plan = moved.plan(Map.of(moved.a, WHOLE.withAt("x", 1), moved.sum, WHOLE.withAt("x", 3)));
    assertThat(plan.layout(moved.b)).hasToString("[*,*,*] at(x: 1)");
    assertThat(plan.layout(moved.y)).hasToString("[*,*,*] at(x: 3)");
    assertThat(kinds(plan)).containsExactly(SyncKind.SEND);
    Sum ended = new Sum();
    ended.builder.output("y", ended.y);
    plan = ended.plan(Map.of(ended.a, WHOLE.withAt("x", 1), ended.sum, WHOLE));
    assertThat(plan.layout(ended.y).isReplicated()).isTrue();
    assertThat(kinds(plan)).containsExactly(SyncKind.BROADCAST);
  }

  /** A sum with users at a single place is reduced to it without an all-reduce. */
  @Test
  void sumsAreReducedToTheirUsers() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.line("x", 3);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    Layout whole = Layout.replicated(mesh, 3);
    pinned.put(blocks.norms.get(1), whole);
    pinned.put(blocks.norms.get(2), whole.withAt("x", 2));
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, pinned);
    assertThat(kinds(plan)).containsExactly(SyncKind.ALL_REDUCE, SyncKind.REDUCE);
    assertThat(plan.layout(blocks.sums.get(1))).hasToString("[*,*,*] at(x: 2)");
    LayoutPropagationTest.verifyClose(graph, plan, new Draw(7));
  }
}
