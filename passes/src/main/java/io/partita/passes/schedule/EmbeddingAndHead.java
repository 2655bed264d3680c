package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds the constants whose first use is outside of blocks: those of the embedding and the head.
 */
final class EmbeddingAndHead {
  private EmbeddingAndHead() {}

  static Set<Region> of(Graph graph, Map<Value, Storage> storages) {
    BlockRanges blocks = BlockRanges.of(graph);
    Set<Region> seen = new HashSet<>();
    Set<Region> outside = new HashSet<>();
    for (int i = 0; i < graph.nodes().size(); i++) {
      for (Value operand : graph.nodes().get(i).operands()) {
        Storage storage = storages.get(operand);
        boolean isConstant = storage != null && storage.region().kind() == Region.Kind.CONSTANT;
        boolean isNew = isConstant && seen.add(storage.region());
        if (isNew && (blocks.block(i) < 0 || blocks.block(i) >= blocks.count())) {
          outside.add(storage.region());
        }
      }
    }
    return outside;
  }
}
