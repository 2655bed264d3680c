package io.partita.passes.graph.simplify;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement.Slice;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes slices of a weight separate weights that can be sharded, stored and fetched independently,
 * such as the query, key and value projections of a fused matrix. It applies if all uses of the
 * weight are slices, and these together are no larger. Data is copied when it is first read.
 */
final class WeightParts {
  private WeightParts() {}

  static void separate(GraphEditor graph) {
    Map<Node, List<Node>> readers = new IdentityHashMap<>();
    List<Node> weights = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (node.constant().isPresent()) {
        weights.add(node);
      }
      for (Value operand : graph.operands(node)) {
        graph
            .definition(operand)
            .ifPresent(each -> readers.computeIfAbsent(each, key -> new ArrayList<>(2)).add(node));
      }
    }
    for (Node weight : weights) {
      List<Node> slices = readers.getOrDefault(weight, List.of());
      boolean isOutput = slices.size() < graph.uses(weight.result());
      if (!isOutput && !slices.isEmpty()) {
        separate(graph, weight, slices);
      }
    }
  }

  private static void separate(GraphEditor graph, Node weight, List<Node> readers) {
    Map<Slice, List<Node>> parts = new LinkedHashMap<>();
    long bytes = 0;
    for (Node reader : readers) {
      TensorType type = reader.result().type();
      if (!(reader.op() instanceof Slice slice)
          || !type.isStatic()
          || !slice.starts().stream().allMatch(Dim::isStatic)) {
        return;
      }
      List<Node> same = parts.computeIfAbsent(slice, key -> new ArrayList<>(1));
      bytes += same.isEmpty() ? type.bytes() : 0;
      same.add(reader);
    }
    Tensor whole = weight.constant().orElseThrow();
    if (bytes > whole.type().bytes()) {
      return;
    }
    List<Slice> ordered = new ArrayList<>(parts.keySet());
    ordered.sort(Comparator.comparing(WeightParts::starts, WeightParts::compare));
    for (int i = 0; i < ordered.size(); i++) {
      Slice slice = ordered.get(i);
      TensorType type = parts.get(slice).getFirst().result().type();
      Tensor part =
          Tensor.deferred(
              type, () -> OpEvaluator.evaluate(slice, List.of(whole)).getFirst().bytes());
      graph.before(weight);
      if (!weight.name().isEmpty()) {
        graph.named(weight.name() + "." + i);
      }
      Value constant = graph.constant(part);
      parts.get(slice).forEach(node -> graph.replace(node.result(), constant));
    }
  }

  private static List<Long> starts(Slice slice) {
    return slice.starts().stream().map(Dim::value).toList();
  }

  private static int compare(List<Long> one, List<Long> other) {
    for (int i = 0; i < one.size(); i++) {
      int order = Long.compare(one.get(i), other.get(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }
}
