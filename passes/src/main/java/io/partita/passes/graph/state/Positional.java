package io.partita.passes.graph.state;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Values that depend only on the position: on constants, on the length of the past, and on inputs
 * that the position determines. They are known at compile time for each position.
 */
final class Positional {
  /** The number of positions up to which every one is examined. */
  private static final long ALL = 1024;

  private static final long STRIDE = 128;

  private final GraphEditor graph;
  private final String past;
  private final FilledInputs filled;
  private final Set<Value> known = Collections.newSetFromMap(new IdentityHashMap<>());

  Positional(GraphEditor graph, String past, FilledInputs filled) {
    this.graph = graph;
    this.past = past;
    this.filled = filled;
    for (Node node : graph.nodes()) {
      if (!(node.op() instanceof Communication)
          && node.operands().stream().allMatch(this::contains)) {
        known.addAll(node.results());
      }
    }
  }

  boolean contains(Value value) {
    Value resolved = graph.resolve(value);
    return resolved.isInput() ? filled.contains(resolved) : known.contains(resolved);
  }

  /** Receives the requested values at a position, in order. */
  interface Observer {
    void accept(long position, List<Tensor> values);
  }

  /**
   * Computes values at positions from 0 to {@code last}: at all of them or, if there are many, at
   * those near numbers in the computation, powers of two and both ends, and at one in {@value
   * #STRIDE}. Comparisons of positions with each other and with numbers change only there.
   *
   * @return the symbols other than the past that must be bound first; if there are any, nothing is
   *     computed
   * @throws CapacityBeyondModel if a value can't be computed at some position
   */
  SortedSet<String> sweep(List<Value> values, long last, Observer observer) {
    Graph part = extract(values);
    SortedSet<String> open = open(part);
    if (!open.isEmpty()) {
      return open;
    }
    for (long position : positions(part, last)) {
      observer.accept(position, evaluate(part, position));
    }
    return open;
  }

  /** Whether no value in the computation grows with the past, so that any position is cheap. */
  boolean isShort(Value value) {
    Graph part = extract(List.of(value));
    return !part.symbols().contains(past)
        && part.nodes().stream()
            .flatMap(node -> node.results().stream())
            .flatMap(result -> result.type().shape().dims().stream())
            .noneMatch(dim -> dim.symbols().contains(past));
  }

  /** Returns the symbols other than the past on which values depend. */
  SortedSet<String> open(List<Value> values) {
    return open(extract(values));
  }

  private SortedSet<String> open(Graph part) {
    SortedSet<String> open = PartialGraph.symbols(part);
    open.remove(past);
    return open;
  }

  /** Computes values at one position. */
  List<Tensor> at(List<Value> values, long position) {
    return evaluate(extract(values), position);
  }

  private List<Tensor> evaluate(Graph part, long position) {
    try {
      Graph bound = DimensionBinding.bind(part, Map.of(past, Dim.of(position)));
      List<Tensor> inputs = new ArrayList<>();
      for (int i = 0; i < bound.inputs().size(); i++) {
        Value input = original(part.inputs().get(i).name());
        inputs.add(filled.at(input, bound.inputs().get(i).type(), position));
      }
      return Evaluator.run(bound, inputs);
    } catch (PartitaException failure) {
      throw new CapacityBeyondModel(position, failure.diagnostics().getFirst().found());
    } catch (TypeMismatch | IllegalArgumentException | IndexOutOfBoundsException failure) {
      throw new CapacityBeyondModel(position, failure.getMessage());
    }
  }

  private Value original(String name) {
    return graph.inputs().stream()
        .filter(input -> input.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the part of the graph that computes {@code values}, which are its outputs. */
  private Graph extract(List<Value> values) {
    GraphBuilder builder = new GraphBuilder("positional");
    Map<Value, Value> copies = PartialGraph.copy(graph, values, builder);
    for (int i = 0; i < values.size(); i++) {
      builder.output(Integer.toString(i), copies.get(graph.resolve(values.get(i))));
    }
    return builder.finish();
  }

  private static SortedSet<Long> positions(Graph part, long last) {
    SortedSet<Long> positions = new TreeSet<>();
    if (last <= ALL) {
      for (long position = 0; position <= last; position++) {
        positions.add(position);
      }
      return positions;
    }
    for (long position = 0; position < last; position += STRIDE) {
      positions.add(position);
    }
    SortedSet<Long> near = new TreeSet<>(List.of(0L, last));
    for (long power = 1; power < last; power *= 2) {
      near.add(power);
    }
    part.nodes().forEach(node -> addNumbers(node, near));
    for (long number : near) {
      for (long position = number - 3; position <= number + 3; position++) {
        if (position >= 0 && position <= last) {
          positions.add(position);
        }
      }
    }
    return positions;
  }

  /** Collects the numbers in small constants, in extents of larger ones, and in slices. */
  private static void addNumbers(Node node, Set<Long> numbers) {
    switch (node.op()) {
      case Source.Constant(Tensor data) when data.element().isInteger() && data.size() <= 8 -> {
        for (long number : data.longs()) {
          numbers.add(Math.abs(number));
        }
      }
      case Source.Constant(Tensor data) ->
          data.shape().dims().forEach(dim -> numbers.add(dim.value()));
      case Movement.Slice(var starts, var sizes, var steps) -> {
        starts.forEach(start -> addNumbers(start, numbers));
        sizes.forEach(size -> addNumbers(size, numbers));
      }
      case Op other -> {}
    }
  }

  private static void addNumbers(Dim dim, Set<Long> numbers) {
    dim.terms().forEach(term -> numbers.add(Math.abs(term.coefficient())));
  }
}
