package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Small inputs of many loops, such as angles or masks that all blocks read: copied once, they may
 * stay in the working memory.
 */
final class KeptInputs {
  /** The most bytes of such an input. */
  private static final long SMALL = 256;

  /** Copying an input takes as long as two or three loops need to load it. */
  private static final int MANY_READERS = 4;

  private KeptInputs() {}

  /**
   * Returns these inputs, which may be states, and their readers.
   *
   * @param nearBytes the bytes of the largest value that may stay in the working memory
   */
  static SequencedMap<Value, List<Node>> of(Graph graph, long nearBytes) {
    Map<Value, List<Node>> readers = graph.readers();
    SequencedMap<Value, List<Node>> kept = new LinkedHashMap<>();
    for (Value input : graph.inputs()) {
      List<Node> own = readers.getOrDefault(input, List.of());
      if (isSmall(input.type(), nearBytes)
          && own.size() >= MANY_READERS
          && own.stream().allMatch(KeptInputs::readsTiles)) {
        kept.put(input, own);
      }
    }
    return kept;
  }

  private static boolean isSmall(TensorType type, long nearBytes) {
    return type.bytes() <= Math.min(SMALL, nearBytes)
        && type.shape().elements() > 1
        && type.element() != ElementType.BOOL;
  }

  private static boolean readsTiles(Node node) {
    return node.op() instanceof Contraction
        || node.op() instanceof Elementwise
        || node.op() instanceof IntegerNetwork;
  }
}
