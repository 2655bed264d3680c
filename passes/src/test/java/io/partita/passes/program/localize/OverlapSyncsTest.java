package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.RandomPlans;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OverlapSyncsTest {
  private static Module blocks(int devices, Algorithm algorithm) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(2);
    Mesh mesh = Mesh.line("x", devices);
    LayoutPlan plan = LayoutPropagation.run(graph, mesh, blocks.pinned(mesh));
    Module module = SyncInsertion.insert(plan, List.of());
    GraphEditor editor = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync) {
        editor.before(node);
        editor.replace(node.result(), editor.add(sync.with(algorithm), node.operand(0)));
      }
    }
    return module.with(editor.freeze());
  }

  private static Map<OverlapSyncs.Candidate, OverlapSyncs.Tiles> all(Module module, int tiles) {
    Map<OverlapSyncs.Candidate, OverlapSyncs.Tiles> all = new HashMap<>();
    OverlapSyncs.candidates(module)
        .forEach(candidate -> all.put(candidate, new OverlapSyncs.Tiles(tiles, Optional.empty())));
    return all;
  }

  private static void verify(Graph graph, Program program, int capacity) {
    Map<String, Tensor> inputs = SampleValues.inputs(graph, new Draw(5));
    List<Tensor> expected =
        Evaluator.run(graph, graph.inputs().stream().map(in -> inputs.get(in.name())).toList());
    Map<String, Tensor> found = new ProgramEvaluator(program, capacity).run(inputs);
    CloseTensors.verify(
        graph.outputs().stream().map(out -> found.get(out.name())).toList(), expected);
  }

  private static long sentBytes(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Exchange)
        .flatMap(node -> ((Exchange) node.op()).steps().stream())
        .filter(step -> step instanceof Step.Send)
        .mapToLong(Step::bytes)
        .sum();
  }

  private static long weights(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Source.Constant && node.result().type().rank() > 0)
        .mapToLong(node -> node.result().type().bytes())
        .sum();
  }

  @Test
  void bothProductsOfABlockAreTiledByOutputFeatures() {
    assertThat(OverlapSyncs.candidates(blocks(3, new Algorithm.Direct())))
        .hasSize(4)
        .allMatch(candidate -> candidate.dim() == 2 && candidate.extent() == 24)
        .extracting(candidate -> candidate.product().op().mnemonic())
        .containsExactly("linear", "ffn", "linear", "ffn");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 8})
  void tilesGiveTheSameWholeWithTheSameBytes(int devices) {
    for (Algorithm algorithm :
        List.of(new Algorithm.Tree(4), new Algorithm.Ring(), new Algorithm.Direct())) {
      Module module = blocks(devices, algorithm);
      Program whole = Localization.of(module, 1);
      Module cut = OverlapSyncs.apply(module, all(module, 3));
      Program tiles = Localization.of(cut, 1);
      assertThat(sentBytes(tiles)).isEqualTo(sentBytes(whole));
      assertThat(weights(tiles)).isEqualTo(weights(whole));
      verify(module.graph(), tiles, 1);
      verify(module.graph(), DelayReceives.apply(tiles, 1), 1);
    }
  }

  @Test
  void tilesTravelWhileTheNextIsComputed() {
    Module module = blocks(3, new Algorithm.Ring());
    Module cut = OverlapSyncs.apply(module, all(module, 2));
    Program program = DelayReceives.apply(Localization.of(cut, 1), 1);
    List<String> order =
        program.devices().get(1).graph().nodes().stream()
            .filter(node -> node.op() instanceof Exchange || isOutProduct(node))
            .map(OverlapSyncsTest::text)
            .limit(5)
            .toList();
    assertThat(order).containsExactly("product", "sends", "product", "receives", "receives");
  }

  private static boolean isOutProduct(Node node) {
    return node.op() instanceof Structured.Linear
        && node.result().type().shape().fromEnd(0).value() == 12;
  }

  private static String text(Node node) {
    if (!(node.op() instanceof Exchange exchange)) {
      return "product";
    }
    boolean receives = exchange.steps().stream().anyMatch(step -> step instanceof Step.Receive);
    return receives ? "receives" : "sends";
  }

  @Test
  void theLastTileCanBeHalved() {
    OverlapSyncs.Tiles tiles = new OverlapSyncs.Tiles(4, Optional.empty());
    assertThat(tiles.ends(24)).containsExactly(6L, 12L, 18L, 24L);
    assertThat(tiles.halved().ends(24)).containsExactly(6L, 12L, 18L, 21L, 24L);
    assertThat(tiles.halved().halved().ends(24)).containsExactly(6L, 12L, 18L, 21L, 22L, 24L);
    assertThat(tiles.halved().halved().halved().ends(6)).containsExactly(1L, 3L, 4L, 5L, 6L);
    Module module = blocks(3, new Algorithm.Direct());
    Map<OverlapSyncs.Candidate, OverlapSyncs.Tiles> halved = all(module, 3);
    halved.replaceAll((candidate, each) -> each.halved());
    Program program = Localization.of(OverlapSyncs.apply(module, halved), 1);
    verify(module.graph(), DelayReceives.apply(program, 1), 1);
  }

  /** Tests that delaying receives of random programs keeps their results. */
  @Tag("thorough")
  @Test
  void receivesOfRandomProgramsCanBeDelayed() {
    int changed = 0;
    for (int seed = 0; seed < 300; seed++) {
      Module module = SyncInsertion.insert(RandomPlans.draw(seed), List.of());
      Module cut = OverlapSyncs.apply(module, all(module, 2));
      Program program = Localization.of(cut, seed % 3);
      Program delayed = DelayReceives.apply(program, seed % 3);
      changed += delayed.equals(program) ? 0 : 1;
      try {
        verify(module.graph(), delayed, seed % 3);
      } catch (io.partita.ir.diagnostic.PartitaException indices) {
        assertThat(indices.diagnostics().getFirst().code().id()).startsWith("P3");
      }
    }
    assertThat(changed).isGreaterThan(20);
  }
}
