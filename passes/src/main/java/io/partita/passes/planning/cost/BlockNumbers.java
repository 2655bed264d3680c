package io.partita.passes.planning.cost;

import io.partita.ir.graph.Node;
import io.partita.ir.op.Communication.Exchange;
import io.partita.passes.program.values.BlockRanges;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Numbers of transformer blocks in the whole model, of which a device of a pipeline has some only.
 * Two devices have parts of one block when the same sync comes first after its attention; where a
 * device has several blocks up to a sync, their order tells them apart.
 */
final class BlockNumbers {
  private final SortedMap<Key, Integer> numbers = new TreeMap<>();
  private final List<List<Key>> keys = new ArrayList<>();

  private record Key(int sync, int order) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      return sync != other.sync
          ? Integer.compare(sync, other.sync)
          : Integer.compare(order, other.order);
    }
  }

  /** Adds the next device. */
  void add(List<Node> nodes, BlockRanges blocks) {
    List<Key> local = new ArrayList<>();
    for (int block = 0; block < blocks.count(); block++) {
      int sync = syncAfter(nodes, blocks.attention(block));
      boolean isSame = !local.isEmpty() && local.getLast().sync == sync;
      local.add(new Key(sync, isSame ? local.getLast().order + 1 : 0));
    }
    keys.add(local);
    local.forEach(key -> numbers.put(key, 0));
    int number = 0;
    for (Key key : numbers.keySet()) {
      numbers.put(key, number++);
    }
  }

  private static int syncAfter(List<Node> nodes, int index) {
    for (Node node : nodes.subList(index, nodes.size())) {
      if (node.op() instanceof Exchange exchange) {
        return exchange.sync();
      }
    }
    return Integer.MAX_VALUE;
  }

  int count() {
    return numbers.size();
  }

  /**
   * @param block of the device; -1 before its first, and as many as it has after its last
   * @return the one before its first, and the one after its last, for these
   */
  int number(int device, int block) {
    List<Key> local = keys.get(device);
    if (local.isEmpty()) {
      return -1;
    } else if (block < 0) {
      return numbers.get(local.getFirst()) - 1;
    }
    return block < local.size() ? numbers.get(local.get(block)) : numbers.get(local.getLast()) + 1;
  }
}
