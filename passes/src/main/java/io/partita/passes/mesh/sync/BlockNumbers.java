package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.BlockRoles;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The block of each node: that of its origin or, if unknown, that of the last attention before it.
 * Attentions begin blocks, which are counted from 0. An attention that was not raised, such as that
 * of an integer network, is a group of nodes with the role of attention.
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
      if (begins(node)) {
        last = node.origin().block().orElse(last + 1);
        blocks.count = Math.max(blocks.count, last + 1);
      }
      blocks.numbers.put(node, begins(node) ? last : node.origin().block().orElse(last));
    }
    return blocks;
  }

  /** Whether a node is a raised attention, whose heads are known. */
  static boolean isAttention(Node node) {
    return node.op() instanceof Structured.Attention;
  }

  /** Whether a node is an attention or a part of one. */
  static boolean begins(Node node) {
    boolean isPart =
        node.origin().block().isPresent() && node.origin().role().equals(BlockRoles.ATTENTION);
    return isAttention(node) || isPart;
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
