package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.BlockRoles;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The block of each node: that of its origin or, if unknown, that of the last attention before it.
 * Attentions begin blocks, which are counted from 0. If no attention was raised, as in integer
 * networks, each is a group of nodes with the role of attention.
 */
public final class BlockNumbers {
  /** The block number of nodes before the first block. */
  public static final int NONE = -1;

  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private final boolean isRaised;
  private int count;

  private BlockNumbers(boolean isRaised) {
    this.isRaised = isRaised;
  }

  public static BlockNumbers of(Graph graph) {
    BlockNumbers blocks =
        new BlockNumbers(graph.nodes().stream().anyMatch(BlockNumbers::isAttention));
    int last = NONE;
    for (Node node : graph.nodes()) {
      if (blocks.begins(node)) {
        last = node.origin().block().orElse(last + 1);
        blocks.count = Math.max(blocks.count, last + 1);
      }
      blocks.numbers.put(node, blocks.begins(node) ? last : node.origin().block().orElse(last));
    }
    return blocks;
  }

  /** Whether a node is a raised attention, whose heads are known. */
  static boolean isAttention(Node node) {
    return node.op() instanceof Structured.Attention;
  }

  /** Whether a node is an attention, or a part of one in a graph without raised attentions. */
  boolean begins(Node node) {
    return isRaised
        ? isAttention(node)
        : node.origin().block().isPresent()
            && node.origin().role().equals(BlockRoles.ATTENTION)
            && node.constant().isEmpty();
  }

  /** Returns the block of a node, or {@link #NONE}. */
  public int of(Node node) {
    return numbers.get(node);
  }

  /** Returns the number of blocks. */
  public int count() {
    return count;
  }
}
