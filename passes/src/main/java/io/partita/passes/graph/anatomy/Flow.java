package io.partita.passes.graph.anatomy;

import io.partita.ir.graph.Graph;
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
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Uses of values in a graph, and the attentions before and after them. */
final class Flow {
  /** The index of a value on which no attention depends. */
  static final int NO_ATTENTION = Integer.MAX_VALUE;

  /** The index of a value that depends on no attention. */
  static final int BEFORE_ATTENTION = -1;

  private static final int MAX_STEPS = 24;

  private final Map<Value, List<Node>> readers;
  private final Map<Value, String> outputs = new IdentityHashMap<>();
  private final Map<Node, Integer> attentions = new IdentityHashMap<>();
  private final Map<Value, Integer> next = new IdentityHashMap<>();
  private final Map<Value, Integer> last = new IdentityHashMap<>();
  private final Map<Node, Integer> order = new IdentityHashMap<>();
  private final Map<Value, Boolean> parameters = new IdentityHashMap<>();

  Flow(Graph graph) {
    readers = graph.readers();
    graph.outputs().forEach(output -> outputs.put(output.value(), output.name()));
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        attentions.put(node, attentions.size());
      }
      order.put(node, order.size());
      boolean isKnown = !node.results().isEmpty();
      int latest = attentions.getOrDefault(node, BEFORE_ATTENTION);
      for (Value operand : node.operands()) {
        isKnown = isKnown && isParameter(operand);
        latest = Math.max(latest, lastAttention(operand));
      }
      for (Value result : node.results()) {
        parameters.put(result, isKnown);
        last.put(result, latest);
      }
    }
    for (Node node : graph.nodes().reversed()) {
      int soonest =
          attentions.getOrDefault(
              node,
              node.results().stream().mapToInt(this::nextAttention).min().orElse(NO_ATTENTION));
      node.operands().forEach(operand -> next.merge(operand, soonest, Math::min));
    }
  }

  List<Node> readers(Value value) {
    return readers.getOrDefault(value, List.of());
  }

  /** Returns the name of the output that this value is, if any. */
  Optional<String> output(Value value) {
    return Optional.ofNullable(outputs.get(value));
  }

  /** Whether the value depends on no input. */
  boolean isParameter(Value value) {
    return parameters.getOrDefault(value, false);
  }

  /** Returns the index of the first attention that depends on the value. */
  int nextAttention(Value value) {
    return next.getOrDefault(value, NO_ATTENTION);
  }

  /** Returns the index of the last attention on which the value depends. */
  int lastAttention(Value value) {
    return last.getOrDefault(value, BEFORE_ATTENTION);
  }

  /** Whether {@code value} is or depends on {@code source}. */
  boolean depends(Value value, Value source) {
    int earliest = source.definition() == null ? -1 : order.get(source.definition());
    Deque<Value> work = new ArrayDeque<>(List.of(value));
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!work.isEmpty()) {
      Value at = work.removeFirst();
      if (at == source) {
        return true;
      }
      Node node = at.definition();
      if (node != null && order.get(node) > earliest && seen.add(node)) {
        work.addAll(node.operands());
      }
    }
    return false;
  }

  int indexOf(Node attention) {
    return attentions.get(attention);
  }

  /** Whether an operation passes a value on elementwise, without another computed operand. */
  static boolean isPassing(Op op) {
    return switch (op) {
      case Movement.Reshape reshape -> true;
      case Movement.Transpose transpose -> true;
      case Movement.Slice slice -> true;
      case Movement.Broadcast broadcast -> true;
      case Elementwise.Cast cast -> true;
      case Quantized quantized -> true;
      case Op other -> false;
    };
  }

  /** {@link #isPassing}, or a requantization. */
  static boolean isMoving(Node node) {
    return isPassing(node.op()) || node.op() instanceof IntegerNetwork.Requantize;
  }

  static boolean isNorm(Node node) {
    return node.op() instanceof Structured.Norm || node.op() instanceof IntegerNetwork.IntegerNorm;
  }

  /** Returns the input of a part of a block, before its norm and pooling. */
  static Value residualOf(Value input) {
    Value at = input;
    while (at.definition() != null && carried(at.definition()) != null) {
      at = carried(at.definition());
    }
    return at;
  }

  /** Returns the operand from whose features the result is computed featurewise, or null. */
  private static Value carried(Node node) {
    return switch (node.op()) {
      case Op op when isPassing(op) -> node.operand(0);
      case Structured.Norm norm -> node.operand(0);
      case Reduction.Reduce reduce -> node.operand(0);
      case Contraction.Pool pool -> node.operand(0);
      case Contraction.Convolution convolution ->
          node.operand(1).type().dim(1).is(1) ? node.operand(0) : null;
      case Movement.Concat concat -> node.operands().getLast();
      case Op other -> null;
    };
  }

  /** Searches upwards through such operations for a node that fits. */
  static Optional<Node> above(Value value, Predicate<Op> passing, Predicate<Op> wanted) {
    Node node = value.definition();
    for (int step = 0; step < MAX_STEPS && node != null; step++) {
      if (wanted.test(node.op())) {
        return Optional.of(node);
      }
      if (!passing.test(node.op()) || node.operands().isEmpty()) {
        return Optional.empty();
      }
      node = node.operand(0).definition();
    }
    return Optional.empty();
  }

  /** Searches downwards, through all users, for the nearest node that fits. */
  Optional<Node> nearestBelow(Value value, Predicate<Node> passed, Predicate<Node> wanted) {
    Deque<Value> work = new ArrayDeque<>(List.of(value));
    for (int step = 0; step < MAX_STEPS && !work.isEmpty(); step++) {
      for (Node reader : readers(work.removeFirst())) {
        if (wanted.test(reader)) {
          return Optional.of(reader);
        }
        if (passed.test(reader)) {
          work.addAll(reader.results());
        }
      }
    }
    return Optional.empty();
  }

  /** Searches downwards through such operations with a single user for a node that fits. */
  Optional<Node> below(Value value, Predicate<Op> wanted) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS; step++) {
      List<Node> next = readers(at);
      if (next.size() == 1 && wanted.test(next.getFirst().op())) {
        return Optional.of(next.getFirst());
      }
      if (next.size() != 1 || !isPassing(next.getFirst().op())) {
        return Optional.empty();
      }
      at = next.getFirst().results().getFirst();
    }
    return Optional.empty();
  }
}
