package io.partita.ir.eval;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/** Computes the outputs of a graph node by node; values are released after their last use. */
public final class Evaluator {
  private final Graph graph;
  private final Map<Value, Integer> remaining = new IdentityHashMap<>();
  private final Map<Value, Tensor> values = new IdentityHashMap<>();

  private Evaluator(Graph graph) {
    this.graph = graph;
    for (Node node : graph.nodes()) {
      node.operands().forEach(operand -> remaining.merge(operand, 1, Integer::sum));
    }
    graph.outputs().forEach(output -> remaining.merge(output.value(), 1, Integer::sum));
  }

  /**
   * Returns the outputs of a graph, in order.
   *
   * @param inputs the tensor of each input of the graph, in order and of exactly its type
   * @throws PartitaException with an {@link EvaluationCode} if the inputs don't fit, a dimension
   *     isn't bound, or a node can't be computed for these values
   */
  public static List<Tensor> run(Graph graph, List<Tensor> inputs) {
    return run(graph, inputs, (node, results) -> {});
  }

  /** Like {@link #run(Graph, List)}; the observer receives the results of each node. */
  public static List<Tensor> run(
      Graph graph, List<Tensor> inputs, BiConsumer<Node, List<Tensor>> observer) {
    return runWith(
        graph,
        inputs,
        (node, operands) -> {
          List<Tensor> results = run(node, operands);
          observer.accept(node, results);
          return results;
        });
  }

  /** Like {@link #run(Graph, List)}, with another meaning of operations. */
  static List<Tensor> runWith(
      Graph graph, List<Tensor> inputs, BiFunction<Node, List<Tensor>, List<Tensor>> meaning) {
    verify(graph, inputs);
    return new Evaluator(graph).run(inputs, meaning);
  }

  private static void verify(Graph graph, List<Tensor> inputs) {
    if (inputs.size() != graph.inputs().size()) {
      throw new PartitaException(
          EvaluationCode.INPUT_MISMATCH,
          "graph \"" + graph.name() + "\"",
          graph.inputs().size() + " inputs",
          Integer.toString(inputs.size()),
          "give a tensor for each input");
    }
    List<Diagnostic> diagnostics = new ArrayList<>();
    for (Value input : graph.inputs()) {
      String where = "input \"" + input.name() + "\"";
      Tensor given = inputs.get(input.index());
      if (!input.type().isStatic()) {
        Bound.verify(input.type(), where);
      }
      if (!given.type().equals(input.type())) {
        diagnostics.add(
            new Diagnostic(
                EvaluationCode.INPUT_MISMATCH,
                where,
                input.type().toString(),
                given.type().toString(),
                "give a tensor of this type, or bind the model's dimensions to other numbers"));
      }
    }
    if (!diagnostics.isEmpty()) {
      throw new PartitaException(diagnostics);
    }
  }

  private List<Tensor> run(
      List<Tensor> inputs, BiFunction<Node, List<Tensor>, List<Tensor>> meaning) {
    for (Value input : graph.inputs()) {
      keep(input, inputs.get(input.index()));
    }
    for (Node node : graph.nodes()) {
      List<Tensor> results =
          meaning.apply(node, node.operands().stream().map(values::get).toList());
      node.operands().forEach(this::use);
      for (int i = 0; i < results.size(); i++) {
        keep(node.results().get(i), results.get(i));
      }
    }
    return graph.outputs().stream().map(output -> values.get(output.value())).toList();
  }

  private void keep(Value value, Tensor tensor) {
    if (remaining.containsKey(value)) {
      values.put(value, tensor);
    }
  }

  private void use(Value value) {
    if (remaining.merge(value, -1, Integer::sum) == 0) {
      values.remove(value);
    }
  }

  /**
   * Computes the results of one node.
   *
   * @throws PartitaException with an {@link EvaluationCode}, at this node, if it can't be computed
   *     for these operands
   */
  public static List<Tensor> run(Node node, List<Tensor> operands) {
    try {
      return OpEvaluator.evaluate(node.op(), operands);
    } catch (PartitaException failure) {
      throw new PartitaException(
          failure.diagnostics().stream().map(cause -> at(node, cause)).toList());
    } catch (OutOfMemoryError full) {
      throw new PartitaException(
          EvaluationCode.TOO_LARGE,
          "node " + node,
          "at most " + Runtime.getRuntime().maxMemory() + " bytes of heap for all values",
          "more, with results " + node.results().stream().map(Value::type).toList(),
          "evaluate with smaller dimensions or a larger heap (-Xmx)");
    }
  }

  private static Diagnostic at(Node node, Diagnostic cause) {
    return new Diagnostic(
        cause.code(), "node " + node, cause.expected(), cause.found(), cause.remedy());
  }
}
