package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The parts of a module that concern its KV cache. */
final class Decoder {
  private final Graph graph;
  private final List<Join> joins;

  Decoder(Graph graph) {
    this.graph = graph;
    Set<Value> attended = attended(graph);
    List<Join> all = Join.all(new GraphEditor(graph));
    Set<Dim> lengths = new HashSet<>();
    all.stream()
        .filter(join -> attended.contains(join.node().result()))
        .forEach(join -> lengths.add(join.pastLength()));
    // A last layer whose attention is unused still has a cache.
    this.joins = all.stream().filter(join -> lengths.contains(join.pastLength())).toList();
  }

  /** Returns the values from which keys or values of attentions are computed. */
  static Set<Value> attended(Graph graph) {
    Set<Value> attended = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Node> nodes = graph.nodes();
    for (int i = nodes.size() - 1; i >= 0; i--) {
      Node node = nodes.get(i);
      if (node.op() instanceof Structured.Attention) {
        attended.addAll(node.operands().subList(1, 3));
      } else if (node.results().stream().anyMatch(attended::contains)) {
        attended.addAll(node.operands());
      }
    }
    return attended;
  }

  List<Join> joins() {
    return joins;
  }

  /** Returns the length of all cache inputs, which is one symbol. */
  Dim pastLength() {
    TreeSet<String> lengths = new TreeSet<>();
    joins.forEach(join -> lengths.add(join.pastLength().toString()));
    Dim first = joins.getFirst().pastLength();
    if (lengths.size() > 1 || !first.isSymbol()) {
      throw KvStatePass.noCache(
          "input \"" + joins.getFirst().past().name() + "\"",
          "a dynamic length of the past, equal for all caches",
          String.join(", ", lengths));
    }
    return first;
  }

  Dim newLength() {
    return joins.getFirst().newLength();
  }

  /**
   * Returns symbols for the total length of past and new tokens: lengths of inputs on which the
   * masks of attentions over the cache depend, and which no other input has.
   */
  Map<String, Dim> totals(Dim total) {
    Set<Value> deciding = deciding();
    TreeSet<String> others = new TreeSet<>(total.symbols());
    graph.inputs().stream()
        .filter(input -> !deciding.contains(input))
        .forEach(input -> input.type().shape().forEach(dim -> others.addAll(dim.symbols())));
    Map<String, Dim> totals = new LinkedHashMap<>();
    for (Value input : graph.inputs()) {
      Shape shape = input.type().shape();
      if (deciding.contains(input)
          && shape.rank() > 0
          && shape.fromEnd(0).isSymbol()
          && !others.contains(shape.fromEnd(0).toString())) {
        totals.put(shape.fromEnd(0).toString(), total);
      }
    }
    return totals;
  }

  /**
   * Returns the values on which masks and lengths of attentions over a cache, and positions in
   * caches, depend.
   */
  private Set<Value> deciding() {
    Set<Value> cached = Collections.newSetFromMap(new IdentityHashMap<>());
    joins.forEach(join -> cached.add(join.node().result()));
    for (Node node : graph.nodes()) {
      if (!(node.op() instanceof Structured.Attention)
          && node.operands().stream().anyMatch(cached::contains)) {
        cached.addAll(node.results());
      }
    }
    Set<Value> deciding = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Node> nodes = graph.nodes();
    for (int i = nodes.size() - 1; i >= 0; i--) {
      Node node = nodes.get(i);
      boolean isAttention = node.op() instanceof Structured.Attention;
      if (isAttention && cached.contains(node.operand(1))) {
        deciding.addAll(node.operands().subList(3, node.operands().size()));
      } else if (node.op() instanceof Structured.CacheUpdate && cached.contains(node.result())) {
        deciding.add(node.operand(2));
      } else if (node.results().stream().anyMatch(deciding::contains)) {
        deciding.addAll(node.operands());
      }
    }
    return deciding;
  }
}
