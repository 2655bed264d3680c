package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.type.Dim;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;

/** Copies the part of a graph that computes some values. */
final class PartialGraph {
  private PartialGraph() {}

  /**
   * Copies the part, with the inputs on which it depends, in their order.
   *
   * @return the copy of each value, by the value as the editor resolves it
   */
  static Map<Value, Value> copy(GraphEditor graph, List<Value> values, GraphBuilder into) {
    Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Value> inputs = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>();
    values.forEach(value -> work.push(graph.resolve(value)));
    while (!work.isEmpty()) {
      Value value = work.pop();
      if (value.isInput()) {
        inputs.add(value);
      } else if (needed.add(value.definition())) {
        graph.operands(value.definition()).forEach(work::push);
      }
    }
    Map<Value, Value> copies = new IdentityHashMap<>();
    graph.inputs().stream()
        .filter(inputs::contains)
        .forEach(input -> copies.put(input, into.input(input.name(), input.type())));
    for (Node node : graph.nodes()) {
      if (needed.contains(node)) {
        List<Value> operands = graph.operands(node).stream().map(copies::get).toList();
        Node copy = into.at(node).addNode(node.op(), operands);
        for (int i = 0; i < copy.results().size(); i++) {
          copies.put(node.results().get(i), copy.results().get(i));
        }
      }
    }
    return copies;
  }

  /** Returns the symbols in types and attributes of a graph. */
  static SortedSet<String> symbols(Graph graph) {
    SortedSet<String> symbols = graph.symbols();
    for (Node node : graph.nodes()) {
      for (Value result : node.results()) {
        result.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
      }
      switch (node.op()) {
        case Source.Extent(Dim size) -> symbols.addAll(size.symbols());
        case Movement.Slice slice ->
            slice.starts().forEach(start -> symbols.addAll(start.symbols()));
        case Op other -> {}
      }
    }
    return symbols;
  }
}
