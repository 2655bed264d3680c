package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Values as long as the capacity in a graph whose caches are still as long as past and new tokens:
 * until lengths are bound, an input stands for each.
 */
final class CapacityValues {
  private final GraphEditor graph;
  private final Dim length;
  private final List<String> names = new ArrayList<>();

  CapacityValues(GraphEditor graph, Dim length) {
    this.graph = graph;
    this.length = length;
  }

  /** What stands for {@code whole}, whose last axis is as long as the capacity. */
  Value open(Value whole) {
    String name = "of capacity " + names.size();
    names.add(name);
    Shape shape = whole.type().shape();
    graph.addOutput(name, whole);
    return graph.addInput(name, whole.type().with(shape.with(shape.rank() - 1, length)));
  }

  /** Puts the values in their places once lengths are bound. */
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
