package io.partita.passes.program.values;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * To which transformer block each node of a graph belongs, as far as attention shows it: a block
 * begins with the first product with weights that its attention reads from, and ends where the next
 * one begins. The last one has as many products with weights as the one before it.
 */
public final class BlockRanges {
  private final int[] firsts;
  private final List<Integer> attentions;
  private final int end;

  private BlockRanges(int[] firsts, List<Integer> attentions, int end) {
    this.firsts = firsts;
    this.attentions = attentions;
    this.end = end;
  }

  public static BlockRanges of(LocalValues values) {
    List<Node> nodes = values.graph().nodes();
    Map<Node, Integer> numbers = new IdentityHashMap<>();
    List<Integer> firsts = new ArrayList<>();
    List<Integer> attentions = new ArrayList<>();
    int open = 0;
    for (int i = 0; i < nodes.size(); i++) {
      numbers.put(nodes.get(i), i);
      if (nodes.get(i).op() instanceof Structured.Attention) {
        firsts.add(Math.max(open, firstProjection(values, nodes.get(i), numbers)));
        attentions.add(i);
        open = i + 1;
      }
    }
    int[] starts = firsts.stream().mapToInt(Integer::intValue).toArray();
    return new BlockRanges(starts, attentions, end(values, starts));
  }

  /** The earliest of the nearest products with weights among what an attention reads. */
  private static int firstProjection(
      LocalValues values, Node attention, Map<Node, Integer> numbers) {
    int first = numbers.get(attention);
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> open = new ArrayDeque<>(attention.operands().subList(0, 3));
    while (!open.isEmpty()) {
      Value value = open.remove();
      if (!value.isInput() && seen.add(value.definition())) {
        Node node = value.definition();
        if (readsWeight(values, node)) {
          first = Math.min(first, numbers.get(node));
        } else if (!(node.op() instanceof Structured.Attention)) {
          open.addAll(node.operands());
        }
      }
    }
    return first;
  }

  private static boolean readsWeight(LocalValues values, Node node) {
    return node.operands().stream().anyMatch(values::isWeight);
  }

  private static int end(LocalValues values, int[] firsts) {
    Graph graph = values.graph();
    if (firsts.length < 2) {
      return graph.nodes().size();
    }
    int last = firsts[firsts.length - 1];
    long products = products(values, firsts[firsts.length - 2], last);
    int end = last;
    while (end < graph.nodes().size()) {
      if (readsWeight(values, graph.nodes().get(end)) && --products < 0) {
        return end;
      }
      end++;
    }
    return end;
  }

  private static long products(LocalValues values, int from, int to) {
    return values.graph().nodes().subList(from, to).stream()
        .filter(node -> readsWeight(values, node))
        .count();
  }

  public int count() {
    return firsts.length;
  }

  /** The index of a block's attention. */
  public int attention(int block) {
    return attentions.get(block);
  }

  /** The block of the node at an index; -1 before the first one, {@link #count} after the last. */
  public int block(int node) {
    if (firsts.length > 0 && node >= end) {
      return count();
    }
    int found = Arrays.binarySearch(firsts, node);
    return found >= 0 ? found : -found - 2;
  }
}
