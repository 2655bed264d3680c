package io.partita.backend.java.plan;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The element-wise nodes that are computed inside the loop of their reader. */
final class Fusion {
  /** The most nodes in one loop; more would make unreadable lines. */
  private static final int MAX_CHAIN = 8;

  private final Map<Node, List<Node>> chains = new IdentityHashMap<>();
  private final Set<Node> fused = Collections.newSetFromMap(new IdentityHashMap<>());

  private Fusion() {}

  static Fusion of(Graph graph) {
    Fusion fusion = new Fusion();
    Map<Value, List<Node>> readers = graph.readers();
    Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());
    graph.outputs().forEach(output -> outputs.add(output.value()));
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Elementwise) {
        fusion.visit(node, readers, outputs);
      }
    }
    return fusion;
  }

  private void visit(Node node, Map<Value, List<Node>> readers, Set<Value> outputs) {
    List<Node> chain = new ArrayList<>();
    for (Value operand : node.operands()) {
      Node producer = operand.definition();
      if (producer == null
          || !(producer.op() instanceof Elementwise)
          || outputs.contains(operand)
          || readers.get(operand).size() > 1
          || node.operands().stream().filter(other -> other == operand).count() > 1
          || !operand.type().shape().equals(node.result().type().shape())) {
        continue;
      }
      List<Node> before = chains.getOrDefault(producer, List.of());
      if (chain.size() + before.size() + 2 <= MAX_CHAIN) {
        chain.addAll(before);
        chain.add(producer);
        fused.add(producer);
        chains.remove(producer);
      }
    }
    if (!chain.isEmpty()) {
      chains.put(node, chain);
    }
  }

  boolean isFused(Node node) {
    return fused.contains(node);
  }

  List<Node> chain(Node node) {
    return chains.getOrDefault(node, List.of());
  }
}
