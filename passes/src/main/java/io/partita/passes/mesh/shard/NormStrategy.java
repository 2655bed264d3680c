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
import java.util.ArrayList;
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
        pins.split(value, dim, mesh.tokens(tokens(value.type())));
      }
    }
  }

  /**
   * Does without sums of quantized products: their operands are gathered, which are bytes, each
   * device computes some columns and what is computed from them by column, such as the skip
   * connection, and these are gathered before what needs whole lines, such as the norm, or is an
   * output. Nothing is added that other devices send.
   *
   * @param everywhere the plan with all-reduces
   */
  void splitColumns(LayoutPlan everywhere) {
    Set<Value> sums = sums(everywhere);
    Set<Value> split = new LinkedHashSet<>();
    for (Value sum : sums) {
      for (TrainedWeights.Weight weight : products(sum, sums)) {
        Value product = weight.node().result();
        Split columns = mesh.weights(weight.outputs(), weight.unit());
        int bits = weight.node().operand(0).type().element().bits();
        if (!columns.isNone() && bits < product.type().element().bits()) {
          pins.whole(weight.node().operand(0), mesh.tensor());
          weight.split(pins, columns);
          pins.split(product, product.type().rank() - 1, columns);
          split.addAll(byColumn(product));
        }
      }
    }
    split.stream().filter(this::isNeededWhole).forEach(this::pinWhole);
    split.stream()
        .flatMap(value -> readersOf(value).stream())
        .filter(reader -> split.contains(reader.results().getFirst()))
        .flatMap(reader -> reader.operands().stream())
        .filter(operand -> !split.contains(operand) && !weights.isTrained(operand))
        .forEach(this::pinWhole);
  }

  private void pinWhole(Value value) {
    pins.whole(value, mesh.tensor());
  }

  private boolean isNeededWhole(Value value) {
    return graph.outputs().stream().anyMatch(output -> output.value() == value)
        || readersOf(value).stream().anyMatch(reader -> !isByColumn(reader, value));
  }

  private List<Node> readersOf(Value value) {
    return readers.getOrDefault(value, List.of());
  }

  /** Returns the products from which a sum is computed by column, after all other sums. */
  private List<TrainedWeights.Weight> products(Value sum, Set<Value> sums) {
    List<TrainedWeights.Weight> products = new ArrayList<>();
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> open = new ArrayDeque<>(List.of(sum));
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      Node node = value.definition();
      if (node == null || !seen.add(value) || value != sum && sums.contains(value)) {
        continue;
      }
      if (isByColumn(node, value)) {
        open.addAll(node.operands());
      } else if (value.type().shape().equals(sum.type().shape())) {
        weights
            .of(node)
            .filter(found -> value.type().shape().fromEnd(0).is(found.outputs()))
            .ifPresent(products::add);
      }
    }
    return products;
  }

  /** Returns the values that are computed by column from one, which is among them. */
  private Set<Value> byColumn(Value first) {
    Set<Value> found = new LinkedHashSet<>();
    Deque<Value> open = new ArrayDeque<>(List.of(first));
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      if (found.add(value)) {
        readersOf(value).stream()
            .filter(reader -> isByColumn(reader, value))
            .forEach(reader -> open.addAll(reader.results()));
      }
    }
    return found;
  }

  private static boolean isByColumn(Node node, Value operand) {
    return RemainingStrategy.isByFeature(node.op())
        && node.results().size() == 1
        && node.result().type().shape().equals(operand.type().shape());
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
      readersOf(value).stream()
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
    return readersOf(value).stream().anyMatch(node -> !isBetween(node));
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
