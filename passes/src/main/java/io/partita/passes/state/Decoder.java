package io.partita.passes.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** What of a module has to do with its KV cache. */
final class Decoder {
  private final Graph graph;
  private final List<CachedValues> caches = new ArrayList<>();

  Decoder(Graph graph) {
    this.graph = graph;
    GraphEditor editor = new GraphEditor(graph);
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        for (int operand = 1; operand <= 2; operand++) {
          Optional<CachedValues> cached = CachedValues.of(node.operand(operand), editor);
          cached.filter(found -> !caches.contains(found)).ifPresent(caches::add);
        }
      }
    }
  }

  List<CachedValues> caches() {
    return caches;
  }

  /** The length of every cache input: one symbol. */
  Dim pastLength() {
    TreeSet<String> lengths = new TreeSet<>();
    caches.forEach(cache -> lengths.add(cache.pastLength().toString()));
    Dim first = caches.getFirst().pastLength();
    if (lengths.size() > 1 || !first.isSymbol()) {
      throw KvStatePass.noCache(
          "input \"" + caches.getFirst().past().name() + "\"",
          "one dynamic length of the past, the same for all caches",
          String.join(", ", lengths));
    }
    return first;
  }

  Dim newLength() {
    return caches.getFirst().newLength();
  }

  /**
   * Symbols that stand for past and new tokens together without saying so: lengths of mask inputs
   * that no other input has.
   */
  Map<String, Dim> totals(Dim total) {
    TreeSet<String> others = new TreeSet<>(total.symbols());
    graph.inputs().stream()
        .filter(input -> !isMask(input))
        .forEach(input -> input.type().shape().forEach(dim -> others.addAll(dim.symbols())));
    Map<String, Dim> totals = new LinkedHashMap<>();
    for (Value input : graph.inputs()) {
      Shape shape = input.type().shape();
      if (isMask(input)
          && shape.rank() > 0
          && shape.fromEnd(0).isSymbol()
          && !others.contains(shape.fromEnd(0).toString())) {
        totals.put(shape.fromEnd(0).toString(), total);
      }
    }
    return totals;
  }

  private static boolean isMask(Value input) {
    return input.name().toLowerCase(Locale.ROOT).contains("mask");
  }
}
