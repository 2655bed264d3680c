package io.partita.passes.graph.anatomy;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.attention.AttentionDiagnosis;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Finds candidates for attention by a simpler test than the rules: a softmax between two products
 * of computed values.
 */
final class AttentionCandidates {
  private static final int MAX_STEPS = 64;

  /**
   * A softmax between two products.
   *
   * @param scores the product above it
   * @param context the product below it
   * @param isQuantized whether values between the products are rounded
   */
  record Found(Node node, Node scores, Node context, boolean isQuantized, String reason) {}

  private final Flow flow;
  private final List<Node> attentions = new ArrayList<>();
  private final List<Found> softmaxes = new ArrayList<>();

  AttentionCandidates(Graph graph) {
    this.flow = new Flow(graph);
    GraphEditor editor = null;
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        attentions.add(node);
      } else if (isSoftmax(node.op())) {
        Walk up = upwards(node);
        Walk down = downwards(node);
        if (up.product != null && down.product != null) {
          editor = editor == null ? new GraphEditor(graph) : editor;
          softmaxes.add(found(node, up, down, editor));
        }
      }
    }
  }

  private Found found(Node node, Walk up, Walk down, GraphEditor editor) {
    boolean rounds = up.isQuantized || down.isQuantized || !(node.op() instanceof Reduction);
    return new Found(
        node,
        up.product,
        down.product,
        rounds,
        rounds
            ? "values between the products are rounded"
            : AttentionDiagnosis.reason(node, flow.readers(node.result()), editor));
  }

  int count() {
    return attentions.size() + softmaxes.size();
  }

  List<Found> softmaxes() {
    return softmaxes;
  }

  private static boolean isSoftmax(Op op) {
    return switch (op) {
      case Reduction.Softmax softmax -> !softmax.logarithm();
      case IntegerNetwork.IntegerSoftmax softmax -> true;
      case IntegerNetwork.PowerSoftmax softmax -> true;
      case Op other -> false;
    };
  }

  private static final class Walk {
    /** The nearest product; null where there is none. */
    Node product;

    boolean isQuantized;
  }

  private boolean isProduct(Node node) {
    return node.op() instanceof Contraction
        && node.operands().size() >= 2
        && !flow.isParameter(node.operand(0))
        && !flow.isParameter(node.operand(1));
  }

  private static boolean isPassed(Op op) {
    return op instanceof Elementwise
        || op instanceof Quantized
        || op instanceof Movement.Reshape
        || op instanceof Movement.Transpose
        || op instanceof Movement.Broadcast
        || op instanceof Movement.Slice
        || op instanceof Movement.Concat
        || op instanceof Movement.Pad
        || op instanceof IntegerNetwork network && network.isElementwise();
  }

  private static boolean rounds(Op op) {
    return op instanceof Quantized
        || op instanceof IntegerNetwork
        || op instanceof Elementwise.Unary unary
            && unary.function() == io.partita.ir.function.UnaryFunction.ROUND;
  }

  private Walk upwards(Node softmax) {
    Walk walk = new Walk();
    Deque<Value> work = new ArrayDeque<>(softmax.operands());
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!work.isEmpty() && seen.size() < MAX_STEPS) {
      Node node = work.removeFirst().definition();
      if (node == null || !seen.add(node)) {
        continue;
      }
      if (isProduct(node)) {
        walk.product = walk.product == null ? node : walk.product;
      } else if (isPassed(node.op())) {
        walk.isQuantized |= rounds(node.op());
        node.operands().stream()
            .filter(operand -> !flow.isParameter(operand))
            .forEach(work::addLast);
      }
    }
    return walk;
  }

  private Walk downwards(Node softmax) {
    Walk walk = new Walk();
    Deque<Value> work = new ArrayDeque<>(softmax.results());
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!work.isEmpty() && seen.size() < MAX_STEPS && walk.product == null) {
      for (Node node : flow.readers(work.removeFirst())) {
        if (!seen.add(node)) {
          continue;
        }
        if (isProduct(node)) {
          walk.product = walk.product == null ? node : walk.product;
        } else if (isPassed(node.op())) {
          walk.isQuantized |= rounds(node.op());
          work.addAll(node.results());
        }
      }
    }
    return walk;
  }
}
