package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.ReshardPlace;
import io.partita.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Says where everything between a sum over devices and the next product is computed: the skip
 * connection, the norm and its quantization. Without it, all devices compute it all.
 */
final class NormStrategy {
  private final Graph graph;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final Map<Value, List<Node>> readers;

  NormStrategy(Graph graph, StrategyMesh mesh, TrainedWeights weights, Pins pins) {
    this.graph = graph;
    this.mesh = mesh;
    this.weights = weights;
    this.pins = pins;
    this.readers = graph.readers();
  }

  /**
   * Computes it on the first device: the sum is reduced to it, and it broadcasts the result.
   * Section IV of the MCU paper.
   *
   * @param everywhere the plan with all-reduces
   */
  void pinToRoot(LayoutPlan everywhere) {
    Set<Value> root = sums(everywhere);
    root.forEach(value -> pins.place(value, mesh.tensor(), 0));
    for (Node node : graph.nodes()) {
      if (isBetween(node) && node.operands().stream().anyMatch(root::contains)) {
        root.addAll(node.results());
      }
    }
    root.stream().filter(this::leaves).forEach(value -> pins.whole(value, mesh.tensor()));
  }

  /**
   * Computes it for each token on one device: sums are scattered by tokens, and the operands of
   * products are gathered. So the residual stream is split by tokens from block to block. Known as
   * sequence parallelism: V. Korthikanti et al., Reducing Activation Recomputation in Large
   * Transformer Models, 2022.
   *
   * <p>A product of few bytes, such as that of attention's quantized results, gathers these instead
   * of scattering its sums, if that takes half the traffic: each device then computes some columns,
   * and gets those of its tokens from all others.
   *
   * @param everywhere the plan with all-reduces
   */
  void splitTokens(LayoutPlan everywhere) {
    Set<Value> sums = sums(everywhere);
    sums.removeIf(value -> tokens(value.type()) == 1);
    Set<Value> stream = stream(sums);
    sums.forEach(this::gatherOperand);
    for (Value value : stream) {
      if (leaves(value)) {
        pins.whole(value, mesh.tensor());
      } else if (sums.contains(value)) {
        int dim = tokenDim(value.type());
        pins.split(value, dim, Split.even(mesh.mesh(), tokens(value.type()), 1, mesh.tensor()));
      }
    }
  }

  /**
   * Splits a product by columns, so that its operand is gathered, if devices then receive at most
   * half as much, because that takes another exchange: of N devices, each receives the operand's
   * parts of the others and their columns of its own tokens, instead of their terms of all columns.
   */
  private void gatherOperand(Value sum) {
    Optional<TrainedWeights.Weight> weight = product(sum);
    if (weight.isEmpty()) {
      return;
    }
    Value operand = weight.get().node().operand(0);
    long devices = mesh.mesh().size(mesh.tensor());
    long gathered = operand.type().bytes() * devices + sum.type().bytes();
    Split columns = mesh.weights(weight.get().outputs(), weight.get().unit());
    if (!columns.isNone() && 2 * gathered <= sum.type().bytes() * devices) {
      pins.whole(operand, mesh.tensor());
      weight.get().split(pins, columns);
    }
  }

  /** Returns the product from which a sum comes, perhaps with a bias. */
  private Optional<TrainedWeights.Weight> product(Value sum) {
    Node node = sum.definition();
    while (node != null && isBetween(node)) {
      List<Value> variable =
          node.operands().stream().filter(operand -> !weights.isTrained(operand)).toList();
      node = variable.size() == 1 ? variable.getFirst().definition() : null;
    }
    return Optional.ofNullable(node).flatMap(weights::of);
  }

  /** Returns the values that devices would all-reduce. */
  private Set<Value> sums(LayoutPlan everywhere) {
    Set<Value> sums = Collections.newSetFromMap(new IdentityHashMap<>());
    for (ReshardPlace place : everywhere.syncs()) {
      boolean isJoined =
          place.isAtDefinition()
              && mesh.tensor().stream().allMatch(axis -> place.change().from().uses(axis))
              && mesh.tensor().stream().noneMatch(axis -> place.change().to().uses(axis));
      if (isJoined && place.value().type().rank() > 0) {
        sums.add(place.value());
      }
    }
    return sums;
  }

  /** Returns the values that are as long as a sum and between it and a product, on either side. */
  private Set<Value> stream(Set<Value> sums) {
    Set<Value> stream = new LinkedHashSet<>();
    Deque<Value> open = new ArrayDeque<>(sums);
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      if (!stream.add(value)) {
        continue;
      }
      readers.getOrDefault(value, List.of()).stream()
          .filter(node -> isBetween(node) && isAsLong(node.result(), value))
          .forEach(node -> open.add(node.result()));
      if (value.definition() != null && isBetween(value.definition())) {
        value.definition().operands().stream()
            .filter(operand -> isAsLong(operand, value))
            .forEach(open::add);
      }
    }
    return stream;
  }

  private static boolean isAsLong(Value value, Value sum) {
    return value.type().rank() == sum.type().rank() && tokens(value.type()) == tokens(sum.type());
  }

  private static int tokenDim(TensorType type) {
    int dim = 0;
    for (int other = 1; other < type.rank() - 1; other++) {
      dim = type.shape().extent(other) > type.shape().extent(dim) ? other : dim;
    }
    return dim;
  }

  /** The extent of the longest dimension besides the features; 1 without one. */
  private static long tokens(TensorType type) {
    return type.rank() < 2 ? 1 : type.shape().extent(tokenDim(type));
  }

  private boolean leaves(Value value) {
    return readers.getOrDefault(value, List.of()).stream().anyMatch(node -> !isBetween(node));
  }

  private static boolean isBetween(Node node) {
    return switch (node.op()) {
      case Elementwise elementwise -> true;
      case Quantized quantized -> true;
      case Structured.Norm norm -> true;
      case Movement.Slice slice -> true;
      case IntegerNetwork.IntegerNorm norm -> true;
      case IntegerNetwork network -> network.isElementwise();
      case Op other -> false;
    };
  }
}
