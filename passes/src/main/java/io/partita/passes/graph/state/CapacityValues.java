package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Values of the length of the capacity, in a graph whose caches still have the length of past and
 * new tokens. Each is represented by an input until lengths are bound.
 */
final class CapacityValues {
  private final GraphEditor graph;
  private final Dim length;
  private final List<String> names = new ArrayList<>();

  CapacityValues(GraphEditor graph, Dim length) {
    this.graph = graph;
    this.length = length;
  }

  /** Returns the placeholder of {@code whole}, whose last axis has the length of the capacity. */
  Value open(Value whole) {
    String name = "of capacity " + names.size();
    names.add(name);
    Shape shape = whole.type().shape();
    graph.addOutput(name, whole);
    return graph.addInput(name, whole.type().with(shape.with(shape.rank() - 1, length)));
  }

  /** Replaces the placeholders after lengths are bound. */
  void close(GraphEditor bound) {
    for (String name : names) {
      Value stand =
          bound.inputs().stream().filter(in -> in.name().equals(name)).findFirst().orElseThrow();
      Graph.Output whole =
          bound.outputs().stream().filter(o -> o.name().equals(name)).findFirst().orElseThrow();
      bound.replace(stand, whole.value());
      bound.removeOutput(name);
      bound.removeInput(stand);
    }
  }

  boolean contains(Value input) {
    return names.contains(input.name());
  }
}
