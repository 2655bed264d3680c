package io.partita.tests.mesh;

import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.shard.Sharding;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.OverlapSyncs;
import io.partita.tests.matrix.Engine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the devices' programs with messages.
 *
 * @param capacity the number of messages that a channel holds
 * @param tiles the number of tiles of a sync, if more than 1
 * @param emitted whether to run emitted Java, whose channels hold one message each
 */
record Localized(Strategy strategy, Algorithm algorithm, int capacity, int tiles, boolean emitted)
    implements ModuleRunner {
  @Override
  public Prepared prepare(Module whole) {
    Module module = cut(withAlgorithm(Sharding.of(whole, strategy).sharded()));
    Program program = Localization.of(module, capacity);
    Program last = tiles > 1 ? DelayReceives.apply(program, capacity) : program;
    return inputs -> run(whole.graph(), last, inputs);
  }

  private List<Tensor> run(Graph graph, Program program, List<Tensor> inputs) {
    Map<String, Tensor> named = new HashMap<>();
    for (Value input : graph.inputs()) {
      named.put(input.name(), inputs.get(input.index()));
    }
    Map<String, Tensor> outputs =
        emitted
            ? Engine.JAVA.run(program, named)
            : new ProgramEvaluator(program, capacity).run(named);
    return graph.outputs().stream().map(output -> outputs.get(output.name())).toList();
  }

  private Module withAlgorithm(Module module) {
    GraphEditor editor = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync) {
        editor.before(node);
        editor.replace(node.result(), editor.add(sync.with(algorithm), node.operand(0)));
      }
    }
    return module.with(editor.freeze());
  }

  private Module cut(Module module) {
    if (tiles == 1) {
      return module;
    }
    Map<OverlapSyncs.Candidate, OverlapSyncs.Tiles> cuts = new HashMap<>();
    OverlapSyncs.candidates(module)
        .forEach(candidate -> cuts.put(candidate, new OverlapSyncs.Tiles(tiles, Optional.empty())));
    return OverlapSyncs.apply(module, cuts);
  }
}
