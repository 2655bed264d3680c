package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Structured;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The block of each node: that of its origin or, if unknown, that of the last attention before it.
 * Attentions begin blocks, which are counted from 0.
 */
public final class BlockNumbers {
  /** The block number of nodes before the first block. */
  public static final int NONE = -1;

  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private int count;

  private BlockNumbers() {}

  public static BlockNumbers of(Graph graph) {
    BlockNumbers blocks = new BlockNumbers();
    int last = NONE;
    for (Node node : graph.nodes()) {
      if (isAttention(node)) {
        last = node.origin().block().orElse(last + 1);
        blocks.count = Math.max(blocks.count, last + 1);
      }
      blocks.numbers.put(node, isAttention(node) ? last : node.origin().block().orElse(last));
    }
    return blocks;
  }

  static boolean isAttention(Node node) {
    return node.op() instanceof Structured.Attention;
  }

  /** Returns the block of a node, or {@link #NONE}. */
  public int of(Node node) {
    return numbers.get(node);
  }

  /** Returns the number of blocks. */
  int count() {
    return count;
  }
}
