package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.OverlapSyncs;
import io.partita.passes.program.localize.OverlapSyncs.Candidate;
import io.partita.passes.program.localize.OverlapSyncs.Tiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Decoder blocks whose sums travel in parts while chips compute the next parts. */
public final class OverlappedBlocks {
  /** With sums that all chips get, and with sums of which each chip gets some tokens. */
  public static final List<String> STRATEGIES =
      List.of("tensor=2", "tensor=3,norm=tokens", "tensor=4,norm=tokens");

  public static final List<Algorithm> ALGORITHMS =
      List.of(
          new Algorithm.Direct(),
          new Algorithm.Hierarchical(2),
          new Algorithm.Ring(),
          new Algorithm.Tree(2));

  private OverlappedBlocks() {}

  /** The block on whole values. */
  public static Graph graph() {
    return new DecoderBlocks().build(1);
  }

  /**
   * @param tiles the number of parts
   */
  public static Program program(Graph graph, String strategy, Algorithm algorithm, int tiles) {
    Module mesh =
        new ShardPass(Strategy.parse(strategy)).run(new Module(graph, List.of(), Optional.empty()));
    GraphEditor editor = new GraphEditor(mesh.graph());
    for (Node node : mesh.graph().nodes()) {
      if (node.op() instanceof Sync sync) {
        editor.before(node);
        editor.replace(node.result(), editor.add(sync.with(algorithm), editor.operand(node, 0)));
      }
    }
    Module module = mesh.with(editor.freeze());
    Map<Candidate, Tiles> all = new LinkedHashMap<>();
    OverlapSyncs.candidates(module)
        .forEach(each -> all.put(each, new Tiles(tiles, Optional.empty())));
    return DelayReceives.apply(Localization.of(OverlapSyncs.apply(module, all), 1), 1);
  }
}
