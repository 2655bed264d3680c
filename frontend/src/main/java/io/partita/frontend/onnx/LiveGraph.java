package io.partita.frontend.onnx;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The part of a graph on which its outputs depend. */
final class LiveGraph {
  private LiveGraph() {}

  /** Returns the graph without dead nodes; all inputs remain. */
  static Graph of(Graph graph) {
    Set<Node> live = live(graph);
    if (live.size() == graph.nodes().size()) {
      return graph;
    }
    GraphBuilder builder = new GraphBuilder(graph.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    graph.inputs().forEach(input -> copies.put(input, builder.input(input.name(), input.type())));
    for (Node node : graph.nodes()) {
      if (live.contains(node)) {
        List<Value> operands = node.operands().stream().map(copies::get).toList();
        Node copy = builder.at(node).addNode(node.op(), operands);
        for (int i = 0; i < copy.results().size(); i++) {
          copies.put(node.results().get(i), copy.results().get(i));
        }
      }
    }
    graph.outputs().forEach(output -> builder.output(output.name(), copies.get(output.value())));
    return builder.finish();
  }

  private static Set<Node> live(Graph graph) {
    Set<Node> live = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>();
    graph.outputs().forEach(output -> work.push(output.value()));
    while (!work.isEmpty()) {
      Node definition = work.pop().definition();
      if (definition != null && live.add(definition)) {
        definition.operands().forEach(work::push);
      }
    }
    return live;
  }
}
