package io.partita.backend.metalium;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An attention on the first and the last chunk of a cache, the exact attention that a device
 * computes if a flag is true, and the squared norms of their difference and of the exact one. One
 * kernel computes all of them, and reads each key once. If only devices with the exact one have the
 * approximation, they send it: then a launch before computes it alone, and the kernel computes it
 * again.
 *
 * @param guess the attention on two chunks
 * @param exact the attention on all keys
 * @param flag whether a device computes the exact one
 * @param isSent whether both are computed on the same devices
 * @param chunk the keys of a chunk
 * @param distance the sum of the squares of the difference
 * @param norm the sum of the squares of the exact result
 * @param covered the nodes that the kernel replaces
 */
record SpeculatedAttention(
    Node guess,
    Node exact,
    Value flag,
    boolean isSent,
    long chunk,
    Optional<Value> distance,
    Optional<Value> norm,
    Set<Node> covered) {
  private static final int KEYS = 1;
  private static final int VALUES = 2;

  /** A chunk at either end of a cache. */
  private record Chunks(Value cache, Value places, long chunk, Set<Node> nodes) {}

  /** Finds all in a graph. */
  static List<SpeculatedAttention> of(Graph graph, Map<Value, List<Node>> users) {
    List<SpeculatedAttention> found = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Attention guess && guess.mask() && node.operands().size() == 4) {
        Optional<Chunks> keys = chunks(node.operand(KEYS));
        Optional<Chunks> values = chunks(node.operand(VALUES));
        if (keys.isPresent() && values.isPresent()) {
          exact(node, keys.get(), values.get(), users)
              .filter(exact -> readsBothEnds(graph, node, exact, keys.get(), values.get()))
              .map(exact -> of(node, exact, keys.get(), values.get(), users))
              .ifPresent(found::add);
        }
      }
    }
    return found;
  }

  private static Optional<Chunks> chunks(Value value) {
    Set<Node> nodes = new HashSet<>();
    Value both = stored(value, nodes);
    if (both.isInput()
        || !(both.definition().op() instanceof Movement.Concat(int axis))
        || axis != 2
        || both.definition().operands().size() != 2) {
      return Optional.empty();
    }
    Node concat = both.definition();
    Value first = stored(concat.operand(0), nodes);
    Value last = stored(concat.operand(1), nodes);
    if (first.isInput()
        || last.isInput()
        || !(first.definition().op() instanceof Movement.Slice slice)
        || !(last.definition().op() instanceof Movement.Gather(int gathered))
        || gathered != 2
        || stored(first.definition().operand(0), nodes)
            != stored(last.definition().operand(0), nodes)) {
      return Optional.empty();
    }
    nodes.addAll(List.of(concat, first.definition(), last.definition()));
    Value cache = stored(first.definition().operand(0), nodes);
    long chunk = first.type().shape().extent(2);
    boolean isStart =
        slice.starts().stream().allMatch(start -> start.is(0))
            && slice.steps().stream().allMatch(step -> step == 1)
            && first.type().shape().equals(last.type().shape())
            && first.type().shape().equals(cache.type().shape().with(2, first.type().dim(2)));
    return isStart
        ? Optional.of(new Chunks(cache, last.definition().operand(1), chunk, nodes))
        : Optional.empty();
  }

  /**
   * The value before conversions between types of floats, which are stored alike.
   *
   * @param nodes receives the conversions
   */
  private static Value stored(Value value, Set<Node> nodes) {
    Value from = value;
    while (!from.isInput() && from.definition().op() instanceof Elementwise.Cast) {
      nodes.add(from.definition());
      from = from.definition().operand(0);
    }
    return from;
  }

  /** The attention of the same query on all keys. */
  private static Optional<Node> exact(
      Node guess, Chunks keys, Chunks values, Map<Value, List<Node>> users) {
    Attention op = (Attention) guess.op();
    return users(keys.cache, users).stream()
        .filter(
            node ->
                node.op() instanceof Attention exact
                    && exact.keyLength()
                    && !exact.mask()
                    && exact.window() == 0
                    && exact.softCap() == 0
                    && op.softCap() == 0
                    && op.window() == 0
                    && !op.causal()
                    && exact.scale() == op.scale()
                    && isOf(node.operand(KEYS), keys.cache)
                    && isOf(node.operand(VALUES), values.cache)
                    && query(node).filter(gate -> isSame(gate, guess)).isPresent())
        .findFirst();
  }

  private static Optional<Node> query(Node exact) {
    Value query = stored(exact.operand(0), new HashSet<>());
    return query.isInput() || !(query.definition().op() instanceof Communication.Gate)
        ? Optional.empty()
        : Optional.of(query.definition());
  }

  /** Whether both read the same query. */
  private static boolean isSame(Node gate, Node guess) {
    return isOf(gate.operand(0), guess.operand(0)) || isGated(gate, guess);
  }

  private static boolean isGated(Node gate, Node guess) {
    return isOf(gate.result(), guess.operand(0));
  }

  /**
   * Whether the mask and the places of the last chunk are those of the chunk with the last key, for
   * each length of the cache.
   */
  private static boolean readsBothEnds(
      Graph graph, Node guess, Node exact, Chunks keys, Chunks values) {
    TensorType cache = keys.cache.type();
    long capacity = cache.shape().extent(2);
    long chunk = keys.chunk;
    List<Value> positions =
        graph.inputs().stream()
            .filter(input -> Indices.isInteger(input.type()))
            .filter(input -> input.type().shape().elements() == 1)
            .toList();
    if (chunk != values.chunk
        || chunk > capacity
        || guess.operand(0).type().shape().extent(2) != 1) {
      return false;
    }
    return positions.stream()
        .anyMatch(
            position -> {
              for (long last = 0; last < capacity; last++) {
                Map<Value, Tensor> known = new IdentityHashMap<>();
                known.put(position, Tensor.filled(position.type(), last));
                if (!isOf(last + 1, exact.operands().getLast(), known)
                    || !readsBothEnds(last, chunk, guess.operand(3), keys, known)
                    || !readsBothEnds(last, chunk, guess.operand(3), values, known)) {
                  return false;
                }
              }
              return true;
            });
  }

  private static boolean isOf(long expected, Value value, Map<Value, Tensor> known) {
    Optional<Tensor> found = evaluated(value, known);
    return found.isPresent() && found.get().size() == 1 && found.get().getLong(0) == expected;
  }

  private static boolean readsBothEnds(
      long last, long chunk, Value mask, Chunks chunks, Map<Value, Tensor> known) {
    Optional<Tensor> seen = evaluated(mask, known);
    Optional<Tensor> places = evaluated(chunks.places, known);
    if (seen.isEmpty() || places.isEmpty() || seen.get().size() != 2 * chunk) {
      return false;
    }
    long begin = last / chunk * chunk;
    for (int i = 0; i < chunk; i++) {
      boolean isOther = begin >= chunk && begin + i <= last;
      if (seen.get().getBoolean(i) != i <= last
          || seen.get().getBoolean(Math.toIntExact(chunk + i)) != isOther
          || isOther && places.get().getLong(i) != begin + i) {
        return false;
      }
    }
    return true;
  }

  /** The value, if it depends on known ones and constants only. */
  private static Optional<Tensor> evaluated(Value value, Map<Value, Tensor> known) {
    if (known.containsKey(value)) {
      return Optional.of(known.get(value));
    }
    if (value.isInput() || value.type().element().isFloat()) {
      return Optional.empty();
    }
    Node node = value.definition();
    List<Tensor> operands = new ArrayList<>();
    for (Value operand : node.operands()) {
      Optional<Tensor> tensor = evaluated(operand, known);
      if (tensor.isEmpty()) {
        return tensor;
      }
      operands.add(tensor.get());
    }
    Tensor result = Evaluator.run(node, operands).getFirst();
    known.put(value, result);
    return Optional.of(result);
  }

  private static SpeculatedAttention of(
      Node guess, Node exact, Chunks keys, Chunks values, Map<Value, List<Node>> users) {
    Set<Node> covered = new HashSet<>(keys.nodes);
    covered.addAll(values.nodes);
    Node gate = query(exact).orElseThrow();
    boolean isSent = isGated(gate, guess);
    if (!isSent) {
      covered.add(exact);
    }
    Optional<Value> distance = Optional.empty();
    for (Node node : users(exact.result(), users)) {
      if (node.op() instanceof Elementwise.Binary(BinaryFunction function)
          && function == BinaryFunction.SUB
          && isOf(node.operand(0), guess.result())
          && isOf(node.operand(1), exact.result())) {
        distance = sumOfSquares(node.result(), users, covered);
        distance.ifPresent(sum -> covered.add(node));
      }
    }
    Optional<Value> norm = sumOfSquares(exact.result(), users, covered);
    return new SpeculatedAttention(
        guess, exact, gate.operand(1), isSent, keys.chunk, distance, norm, covered);
  }

  private static boolean isOf(Value value, Value original) {
    Set<Node> ignored = new HashSet<>();
    return stored(value, ignored) == stored(original, ignored);
  }

  /** The nodes that read a value or its conversion to another type of floats. */
  private static Set<Node> users(Value value, Map<Value, List<Node>> users) {
    Set<Node> all = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : users.getOrDefault(value, List.of())) {
      if (node.op() instanceof Elementwise.Cast) {
        all.addAll(users(node.result(), users));
      } else {
        all.add(node);
      }
    }
    return all;
  }

  private static Optional<Value> sumOfSquares(
      Value value, Map<Value, List<Node>> users, Set<Node> covered) {
    for (Node square : users(value, users)) {
      if (square.op() instanceof Elementwise.Binary(BinaryFunction function)
          && function == BinaryFunction.MUL
          && isOf(square.operand(0), value)
          && isOf(square.operand(1), value)) {
        List<Node> readers = users.getOrDefault(square.result(), List.of());
        if (readers.size() == 1
            && readers.getFirst().op()
                instanceof Reduction.Reduce(ReductionKind kind, var axes, var kept)
            && kind == ReductionKind.SUM
            && readers.getFirst().result().type().shape().elements() == 1) {
          covered.add(square);
          covered.add(readers.getFirst());
          return Optional.of(readers.getFirst().result());
        }
      }
    }
    return Optional.empty();
  }
}
