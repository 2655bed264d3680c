package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.graph.anatomy.Projection;
import io.partita.passes.mesh.sync.BlockNumbers;
import io.partita.passes.mesh.sync.TokenGathers;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Splits tokens and replicates weights: the scheme of Voltage, the baseline of the ASTRA paper. A
 * device has the queries of its tokens, and keys and values of all. Either keys and values are
 * gathered, or the features from which every device then computes them: as is asked for, or else
 * whichever has fewer bytes. Caches that a prompt only writes are on the device that holds the last
 * tokens, which decodes.
 */
final class SequenceStrategy {
  private final Graph graph;
  private final ModelAnatomy anatomy;
  private final StrategyMesh mesh;
  private final TokenGathers gathers;
  private final Pins pins;

  SequenceStrategy(
      Graph graph, ModelAnatomy anatomy, StrategyMesh mesh, TokenGathers gathers, Pins pins) {
    this.gathers = gathers;
    this.graph = graph;
    this.anatomy = anatomy;
    this.mesh = mesh;
    this.pins = pins;
  }

  /** Whether any attention has more than one query. */
  boolean pin() {
    boolean splits = false;
    Map<Value, List<Node>> readers = graph.readers();
    Set<Node> softmaxes = TensorStrategy.softmaxes(anatomy);
    for (Node node : graph.nodes()) {
      switch (node.op()) {
        case Structured.Attention attention -> splits |= split(node.operand(0), 2);
        case Structured.RotaryEmbedding rotary -> {
          pins.whole(node.operand(1), axes());
          pins.whole(node.operand(2), axes());
        }
        case Reduction.Softmax softmax -> splits |= softmaxes.contains(node) && scores(node);
        case Structured.CacheUpdate update when !readers.containsKey(node.result()) -> {
          pins.whole(node.operand(1), axes());
          pins.place(node.operand(0), axes(), mesh.mesh().size(mesh.token()) - 1);
          pins.place(node.result(), axes(), mesh.mesh().size(mesh.token()) - 1);
        }
        case IntegerNetwork.IntegerSoftmax softmax ->
            splits |= softmaxes.contains(node) && scores(node);
        case IntegerNetwork.PowerSoftmax softmax ->
            splits |= softmaxes.contains(node) && scores(node);
        case Op other -> {}
      }
    }
    BlockNumbers numbers = BlockNumbers.of(graph);
    for (Block block : anatomy.blocks()) {
      joinInput(block, gathers.of(numbers.of(block.attention().node())));
    }
    return splits;
  }

  private List<String> axes() {
    return List.of(mesh.token());
  }

  private boolean scores(Node softmax) {
    Value scores = softmax.operand(0);
    return scores.type().rank() >= 2 && split(scores, scores.type().rank() - 2);
  }

  private boolean split(Value value, int dim) {
    long tokens = value.type().dim(dim).value();
    pins.split(value, dim, Split.even(mesh.mesh(), tokens, mesh.token()));
    return tokens > 1;
  }

  /** Gathers features instead of the keys and values that are computed from them. */
  private void joinInput(Block block, Optional<TokenGathers.Kind> kind) {
    Optional<Projection> key = block.attention().key();
    Optional<Projection> value = block.attention().value();
    if (key.isEmpty() || value.isEmpty()) {
      return;
    }
    Set<Value> inputs = Collections.newSetFromMap(new IdentityHashMap<>());
    inputs.add(key.get().input());
    inputs.add(value.get().input());
    long features = inputs.stream().mapToLong(input -> input.type().bytes()).sum();
    long joined = key.get().result().type().bytes() + value.get().result().type().bytes();
    boolean heads = mesh.splitsWeights() && !block.attention().kvHeads().is(1);
    boolean isLess = features < joined / (heads ? mesh.mesh().size(mesh.heads()) : 1);
    Node attention = block.attention().node();
    if (kind.map(each -> each == TokenGathers.Kind.FEATURES).orElse(isLess)) {
      computeEverywhere(attention.operand(1), key.get().input());
      computeEverywhere(attention.operand(2), value.get().input());
    } else {
      moveEverywhere(attention.operand(1));
      moveEverywhere(attention.operand(2));
    }
  }

  /**
   * Gathers a value before it is reshaped and transposed: tokens come first there, so that the
   * parts of devices follow each other in memory.
   */
  private void moveEverywhere(Value moved) {
    Value value = moved;
    while (value.definition() != null && isMovement(value.definition().op())) {
      pins.unsplit(value.definition(), axes());
      value = value.definition().operand(0);
    }
  }

  private static boolean isMovement(Op op) {
    return op instanceof Movement.Reshape || op instanceof Movement.Transpose;
  }

  private void computeEverywhere(Value result, Value input) {
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(result));
    while (!work.isEmpty()) {
      Value value = work.removeFirst();
      Node node = value.definition();
      if (value != input && node != null && seen.add(node)) {
        pins.unsplit(node, axes());
        work.addAll(node.operands());
      }
    }
  }
}
