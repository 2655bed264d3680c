package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.SyncInsertion;
import java.util.List;

/**
 * Places a decoder on the last of the devices over which the tokens of its prompt are split: this
 * device has the last tokens and the cache.
 */
public final class LastDevice {
  private LastDevice() {}

  /**
   * Converts a decoder to the mesh dialect.
   *
   * @param module a raised module of static shapes
   * @param strategy a split of tokens only
   */
  public static Module place(Module module, Strategy strategy) {
    StrategyMesh mesh = StrategyMesh.of(strategy, module.graph());
    Pins pins = new Pins();
    List<String> axes = List.of(mesh.token());
    int last = mesh.mesh().size(mesh.token()) - 1;
    module.graph().inputs().forEach(input -> pins.place(input, axes, last));
    for (Node node : module.graph().nodes()) {
      node.results().forEach(result -> pins.place(result, axes, last));
    }
    return SyncInsertion.insert(
        LayoutPropagation.run(module.graph(), mesh.mesh(), pins.demands()), module.states());
  }
}
