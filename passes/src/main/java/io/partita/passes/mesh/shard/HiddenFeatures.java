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
 * Networks of two products with trained matrices where only each feature by itself is changed
 * between them, as in quantised models, which no rule joins: the first products' outputs are the
 * second's inputs.
 *
 * @param first two where one gates the other
 */
record HiddenFeatures(List<TrainedWeights.Weight> first, TrainedWeights.Weight second) {
  private static final int MOST_STEPS = 64;

  /** What ends with this product. */
  static Optional<HiddenFeatures> before(TrainedWeights.Weight second, TrainedWeights weights) {
    List<TrainedWeights.Weight> first = new ArrayList<>();
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(second.node().operand(0)));
    while (!work.isEmpty()) {
      Node node = work.removeFirst().definition();
      if (node == null || seen.size() > MOST_STEPS) {
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

  /** Such as a scale that is found while the model runs, or what zero points take away. */
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
