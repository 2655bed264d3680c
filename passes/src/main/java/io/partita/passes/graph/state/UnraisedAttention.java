package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds out why a model with a past has no raised attention over it. */
final class UnraisedAttention {
  private UnraisedAttention() {}

  /**
   * Describes the first softmax whose scores depend on values of the length of the past.
   *
   * @param lengths the symbols of the length of the past
   */
  static Optional<String> describe(Graph graph, Set<String> lengths) {
    Set<Value> reached = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Value> quantized = Collections.newSetFromMap(new IdentityHashMap<>());
    graph.inputs().stream().filter(input -> isCache(input, lengths)).forEach(reached::add);
    for (Node node : graph.nodes()) {
      List<Value> from = node.operands().stream().filter(reached::contains).toList();
      if (from.isEmpty()) {
        continue;
      }
      if (node.op() instanceof Reduction.Softmax) {
        String scores =
            from.stream().anyMatch(quantized::contains)
                ? "scores that are quantised, unlike those of an attention"
                : "scores that aren't recognised as those of an attention";
        return Optional.of("a softmax of " + scores + ", at node \"" + node.name() + "\"");
      }
      reached.addAll(node.results());
      boolean isQuantized =
          node.op() instanceof Quantized || from.stream().anyMatch(quantized::contains);
      if (isQuantized) {
        quantized.addAll(node.results());
      }
    }
    return Optional.empty();
  }

  private static boolean isCache(Value input, Set<String> lengths) {
    Set<String> symbols = new HashSet<>();
    input.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
    return input.type().rank() >= 3 && !Collections.disjoint(symbols, lengths);
  }
}
