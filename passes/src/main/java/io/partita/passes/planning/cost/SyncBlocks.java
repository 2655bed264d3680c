package io.partita.passes.planning.cost;

import io.partita.ir.graph.Node;
import io.partita.ir.op.Communication.Exchange;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.timing.SyncEvents.SyncTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The transformer block of each sync of a program. */
final class SyncBlocks {
  private final Map<Integer, Integer> blocks = new HashMap<>();
  private final int count;

  /**
   * @param devices the nodes of each device, in order
   * @param ranges the blocks of each device
   */
  SyncBlocks(List<List<Node>> devices, List<BlockRanges> ranges) {
    this.count =
        (int)
            ranges.stream()
                .flatMap(each -> IntStream.range(0, each.count()).mapToObj(each::number))
                .distinct()
                .count();
    for (List<Node> nodes : devices) {
      for (Node node : nodes) {
        if (node.op() instanceof Exchange exchange) {
          blocks.merge(exchange.sync(), node.origin().block().orElse(-1), Math::max);
        }
      }
    }
  }

  /** Returns the number of blocks of the model. */
  int count() {
    return count;
  }

  List<SyncReport> reports(List<SyncTime> times) {
    return times.stream()
        .map(
            time ->
                new SyncReport(
                    time.sync(),
                    time.name(),
                    blocks.getOrDefault(time.sync(), -1),
                    time.devices(),
                    time.messages(),
                    time.bytes(),
                    time.seconds()))
        .toList();
  }
}
