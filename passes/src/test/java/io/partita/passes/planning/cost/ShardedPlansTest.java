package io.partita.passes.planning.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.search.SyncAlgorithms;
import io.partita.passes.program.localize.Localization;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares predictions for sharded models with those of handwritten programs. */
class ShardedPlansTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");
  private static final PlanOptions BYTES = PlanOptions.DEFAULT.floats(ElementType.I8);
  private static final PaperModel MODEL = PaperModel.tinyLlama(true, 8, 1, 128);

  private static PlanReport report(String strategy) {
    return Plans.report(split(MODEL, strategy), SIRACUSA, BYTES);
  }

  private static Module split(PaperModel model, String strategy) {
    Module mesh = new ShardPass(Strategy.parse(strategy)).run(model.whole());
    GraphEditor graph = new GraphEditor(mesh.graph());
    for (Node node : mesh.graph().nodes()) {
      if (node.op() instanceof Sync sync) {
        graph.before(node).named(node.name());
        graph.replace(
            node.result(), graph.add(sync.with(new Algorithm.Tree(4)), graph.operand(node, 0)));
      }
    }
    return mesh.with(graph.freeze());
  }

  @Test
  void tensorStrategyMatchesThePaper() {
    PlanReport split = report("tensor=8,norm=root");
    PlanReport written = Plans.report(MODEL.program(8), SIRACUSA, BYTES);
    assertThat(split.blocks()).isEqualTo(8);
    assertThat(split.bytes().get("l3")).isEqualTo(written.bytes().get("l3"));
    assertThat(split.devices().get(5).weightBytes())
        .isEqualTo(written.devices().get(5).weightBytes());
    assertThat(split.devices().get(5).weights()).isEqualTo(written.devices().get(5).weights());
    assertThat(split.seconds()).isCloseTo(written.seconds(), within(0.05 * written.seconds()));
    assertThat(split.totalJoules())
        .isCloseTo(written.totalJoules(), within(0.05 * written.totalJoules()));
  }

  @Test
  void syncsOfAPipelineAreInBlocksOfTheWholeModel() {
    PlanReport report = report("pipeline=2,tensor=4");
    assertThat(report.blocks()).isEqualTo(8);
    assertThat(IntStream.range(0, 8).mapToObj(report::syncs))
        .allSatisfy(syncs -> assertThat(syncs).hasSizeBetween(2, 3));
    assertThat(report.syncs()).extracting(SyncReport::block).isSorted();
    // Only four devices work at a time.
    assertThat(report.seconds()).isGreaterThan(report("tensor=8").seconds());
  }

  /** Tests that messages of 16 tokens are tiled, and those of one are not. */
  @Tag("thorough")
  @Test
  void syncsAreTiledIfFaster() {
    PaperModel prompt = new PaperModel(2, 512, 2048, true, true, 8, 16, 0);
    OverlapChoice.Planned plain = plain(split(prompt, "tensor=8,norm=root"));
    OverlapChoice.Planned best = OverlapChoice.choose(plain, SIRACUSA, BYTES, PlanReport::seconds);
    assertThat(best.report().seconds()).isLessThan(0.97 * plain.report().seconds());
    assertThat(best.report().syncs().size()).isGreaterThan(plain.report().syncs().size());
    assertThat(best.report().bytes().get("links")).isEqualTo(plain.report().bytes().get("links"));
    PaperModel token = new PaperModel(1, 512, 2048, true, true, 8, 1, 128);
    Module usual = new ShardPass(Strategy.parse("tensor=8")).run(token.whole());
    OverlapChoice.Planned single = plain(SyncAlgorithms.choose(usual, SIRACUSA));
    assertThat(OverlapChoice.choose(single, SIRACUSA, BYTES, PlanReport::seconds).report())
        .isEqualTo(single.report());
  }

  private static OverlapChoice.Planned plain(Module module) {
    Program program = Localization.of(module, 1);
    return new OverlapChoice.Planned(module, program, Plans.report(program, SIRACUSA, BYTES));
  }
}
