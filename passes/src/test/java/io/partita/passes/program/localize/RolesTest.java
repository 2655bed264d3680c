package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.RandomPlans;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RolesTest {
  private static Program program(LayoutPlan plan) {
    return Localization.of(SyncInsertion.insert(plan, List.of()), 1);
  }

  /** Returns the graph of the first device with the differences of another one. */
  private static Graph rebuilt(Graph first, Graph other, Role role) {
    GraphBuilder builder = new GraphBuilder(first.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    first.inputs().forEach(in -> copies.put(in, builder.input(in.name(), in.type())));
    for (int i = 0; i < first.nodes().size(); i++) {
      Node node = first.nodes().get(i);
      Op op = role.varying().contains(i) ? other.nodes().get(i).op() : node.op();
      Node copy =
          builder.at(node.name()).addNode(op, node.operands().stream().map(copies::get).toList());
      for (int r = 0; r < copy.results().size(); r++) {
        copies.put(node.results().get(r), copy.results().get(r));
      }
    }
    first.outputs().forEach(out -> builder.output(out.name(), copies.get(out.value())));
    return builder.finish();
  }

  private static void verify(Program program) {
    List<Role> roles = Roles.of(program);
    assertThat(roles.stream().flatMap(role -> role.devices().stream()))
        .hasSize(program.devices().size())
        .doesNotHaveDuplicates();
    for (Role role : roles) {
      Graph first = program.devices().get(role.devices().getFirst()).graph();
      for (int device : role.devices()) {
        Graph graph = program.devices().get(device).graph();
        assertThat(rebuilt(first, graph, role)).isEqualTo(graph);
      }
    }
  }

  @Test
  void onlyVaryingValuesDiffer() {
    for (int seed = 0; seed < 300; seed++) {
      verify(program(RandomPlans.draw(seed)));
    }
  }

  @Test
  void devicesWithoutTheBiasShareAProgram() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", 3);
    Program program = program(LayoutPropagation.run(graph, mesh, blocks.pinned(mesh)));
    verify(program);
    List<Role> roles = Roles.of(program);
    // 40 inner features are 14, 13 and 13; and the first device adds the biases.
    assertThat(roles).extracting(Role::devices).containsExactly(List.of(0), List.of(1, 2));
    List<Node> nodes = program.devices().get(1).graph().nodes();
    assertThat(roles.get(1).varying())
        .isNotEmpty()
        .allMatch(
            i ->
                nodes.get(i).op() instanceof Source.Constant
                    || nodes.get(i).op() instanceof Communication.Exchange);
  }

  @Test
  void devicesWithEqualTokensShareAProgram() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    Mesh mesh = Mesh.line("x", 5);
    Split tokens = Split.even(mesh, 5, "x");
    Layout layout = Layout.of(mesh, Split.NONE, tokens, Split.NONE);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, Map.of(blocks.input, layout));
    Module direct =
        new ChooseAlgorithms(change -> new Algorithm.Direct())
            .run(SyncInsertion.insert(plan, List.of()));
    Program program = Localization.of(direct, 1);
    verify(program);
    List<Role> roles = Roles.of(program);
    assertThat(roles).extracting(Role::devices).containsExactly(List.of(0, 1, 2, 3, 4));
    List<Node> nodes = program.devices().getFirst().graph().nodes();
    // Weights are the same; queries stand at other positions.
    assertThat(roles.getFirst().varying()).noneMatch(i -> nodes.get(i).constant().isPresent());
    assertThat(roles.getFirst().varying())
        .anyMatch(i -> nodes.get(i).op() instanceof Structured.Attention);
  }
}
