package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.NibblePanels;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds values that depend on no input, and the products that use them. */
final class TrainedWeights {
  private final Set<Value> trained = Collections.newSetFromMap(new IdentityHashMap<>());

  TrainedWeights(Graph graph) {
    for (Node node : graph.nodes()) {
      if (node.operands().stream().allMatch(trained::contains)) {
        trained.addAll(node.results());
      }
    }
  }

  /** Whether the value depends on no input. */
  boolean isTrained(Value value) {
    return trained.contains(value);
  }

  /**
   * The operand and the dimensions of the weight of a product.
   *
   * @param operand its index among the operands
   * @param in the summed dimension
   * @param out the dimension of the features of the result
   * @param inFeatures the features for each index of {@code in}
   * @param outFeatures the features for each index of {@code out}
   */
  record Weight(Node node, int operand, int in, int out, long inFeatures, long outFeatures) {
    Value value() {
      return node.operand(operand);
    }

    long inputs() {
      return value().type().dim(in).value() * inFeatures;
    }

    long outputs() {
      return value().type().dim(out).value() * outFeatures;
    }

    /** Returns the features between which the weight can be cut. */
    long unit() {
      return Math.max(block(value()), Math.max(inFeatures, outFeatures));
    }

    /** Splits the features of the result; they stay whole if a cut is inside a unit. */
    void split(Pins pins, Split features) {
      features.dividedBy(outFeatures).ifPresent(own -> pins.split(value(), out, own));
    }
  }

  /** Returns the trained matrix of a product. */
  Optional<Weight> of(Node node) {
    return switch (node.op()) {
      case Structured.Linear linear ->
          weight(node, linear.transposed() ? 1 : 0, linear.transposed() ? 0 : 1);
      case Contraction.MatMul product -> {
        int rank = node.operand(1).type().rank();
        yield weight(node, rank - 2, rank - 1);
      }
      case Contraction.NibbleMatMul product -> {
        long rows = NibblePanels.rows(node.operand(1).type().dim(2).value());
        yield weight(node, 1, 0, rows, NibblePanels.COLUMNS);
      }
      case Structured.PatchEmbedding patches -> weight(node, 1, 0);
      case Contraction.Convolution convolution -> weight(node, 1, 0);
      case io.partita.ir.op.Op other -> Optional.empty();
    };
  }

  private Optional<Weight> weight(Node node, int in, int out) {
    return weight(node, in, out, 1, 1);
  }

  private Optional<Weight> weight(Node node, int in, int out, long inFeatures, long outFeatures) {
    boolean fits =
        isTrained(node.operand(1))
            && !isTrained(node.operand(0))
            && node.operand(1).type().rank() >= 2;
    return fits
        ? Optional.of(new Weight(node, 1, in, out, inFeatures, outFeatures))
        : Optional.empty();
  }

  /** Returns the constants from which a trained value is computed. */
  static Set<Node> constants(Value value) {
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Node> constants = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(value));
    while (!work.isEmpty()) {
      Node node = work.removeFirst().definition();
      if (node != null && seen.add(node)) {
        if (node.constant().isPresent()) {
          constants.add(node);
        }
        work.addAll(node.operands());
      }
    }
    return constants;
  }

  /** Returns the constants from which an operand is computed, if it depends on no input. */
  static Set<Node> constants(Value value, TrainedWeights weights) {
    return weights.isTrained(value) ? constants(value) : Set.of();
  }

  /**
   * Returns the number of elements that share a scale in a blockwise quantised weight; 1 in others.
   */
  static long block(Value weight) {
    long block = 1;
    Map<Node, Boolean> seen = new IdentityHashMap<>();
    List<Value> work = new ArrayList<>(List.of(weight));
    while (!work.isEmpty()) {
      Node node = work.removeLast().definition();
      if (node != null && seen.put(node, true) == null) {
        if (node.op() instanceof Quantized.Dequantize dequantize) {
          block = Math.max(block, dequantize.block());
        }
        work.addAll(node.operands());
      }
    }
    return block;
  }
}
