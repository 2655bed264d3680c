package io.partita.passes.program.values;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The ranges of a device's transformer blocks in execution order, by the origins of nodes. A block
 * begins with its first product with weights: the norm before it runs while the weights of the
 * previous block are still in use.
 */
public final class BlockRanges {
  private final int[] firsts;
  private final int[] numbers;
  private final int end;

  private BlockRanges(int[] firsts, int[] numbers, int end) {
    this.firsts = firsts;
    this.numbers = numbers;
    this.end = end;
  }

  public static BlockRanges of(Graph graph) {
    List<Integer> firsts = new ArrayList<>();
    List<Integer> numbers = new ArrayList<>();
    int end = 0;
    for (int i = 0; i < graph.nodes().size(); i++) {
      Node node = graph.nodes().get(i);
      if (node.op() instanceof Source.Constant || node.origin().block().isEmpty()) {
        continue;
      }
      int block = node.origin().block().getAsInt();
      boolean isNext = numbers.isEmpty() || block > numbers.getLast();
      if (isNext && begins(node)) {
        firsts.add(i);
        numbers.add(block);
      }
      if (!numbers.isEmpty() && block == numbers.getLast()) {
        end = i + 1;
      }
    }
    return new BlockRanges(array(firsts), array(numbers), end);
  }

  private static boolean begins(Node node) {
    boolean isProduct =
        !node.origin().role().isEmpty()
            && !(node.op() instanceof Structured.Norm)
            && node.operands().stream().anyMatch(BlockRanges::isConstant);
    return isProduct || node.op() instanceof Structured.Attention;
  }

  private static boolean isConstant(Value value) {
    return !value.isInput() && value.definition().op() instanceof Source.Constant;
  }

  private static int[] array(List<Integer> values) {
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  public int count() {
    return firsts.length;
  }

  /**
   * Returns the block of the node at an index; -1 before the first block, {@link #count} after the
   * last one.
   */
  public int block(int node) {
    if (firsts.length > 0 && node >= end) {
      return count();
    }
    int found = Arrays.binarySearch(firsts, node);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the number in the whole model of a block of the device. */
  public int number(int block) {
    return numbers[block];
  }
}
