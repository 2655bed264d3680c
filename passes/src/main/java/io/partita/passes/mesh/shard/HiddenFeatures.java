package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds networks that no rule raises: two products with trained weights and only featurewise
 * operations between them, as in quantised models. The outputs of the first product are the inputs
 * of the second.
 *
 * @param first the first product; two products if one gates the other
 */
record HiddenFeatures(List<TrainedWeights.Weight> first, TrainedWeights.Weight second) {
  private static final int MAX_STEPS = 64;

  /** Finds the network that ends with this product. */
  static Optional<HiddenFeatures> before(TrainedWeights.Weight second, TrainedWeights weights) {
    List<TrainedWeights.Weight> first = new ArrayList<>();
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(second.node().operand(0)));
    while (!work.isEmpty()) {
      Node node = work.removeFirst().definition();
      if (node == null || seen.size() > MAX_STEPS) {
        return Optional.empty();
      }
      if (!seen.add(node)) {
        continue;
      }
      Optional<TrainedWeights.Weight> product = weights.of(node);
      if (product.isPresent() && product.get().outputs() == second.inputs()) {
        first.add(product.get());
      } else if (isByFeature(node, second.inputs())) {
        node.operands().stream()
            .filter(operand -> !weights.isTrained(operand))
            .filter(operand -> !isForAllFeatures(operand))
            .forEach(work::addLast);
      } else {
        return Optional.empty();
      }
    }
    return first.isEmpty() || first.size() > 2
        ? Optional.empty()
        : Optional.of(new HiddenFeatures(first, second));
  }

  /**
   * Whether a value has one element per line, such as a dynamic scale or a correction for zero
   * points.
   */
  private static boolean isForAllFeatures(Value value) {
    return value.type().rank() == 0 || value.type().shape().fromEnd(0).is(1);
  }

  private static boolean isByFeature(Node node, long features) {
    if (node.results().getFirst().type().rank() == 0
        || !node.results().getFirst().type().shape().fromEnd(0).is(features)) {
      return false;
    }
    return switch (node.op()) {
      case Elementwise elementwise -> true;
      case Quantized quantized -> true;
      case IntegerNetwork network -> network.isElementwise();
      case Movement.Reshape reshape ->
          node.operand(0).type().rank() > 0
              && node.operand(0).type().shape().fromEnd(0).is(features);
      case Op other -> false;
    };
  }
}
