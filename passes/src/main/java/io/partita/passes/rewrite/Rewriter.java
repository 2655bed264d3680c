package io.partita.passes.rewrite;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.passes.PassCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Applies rules in the given order at each node in graph order, and repeats until none fires. */
public final class Rewriter {
  /** The number of sweeps after which rules that still fire are assumed not to terminate. */
  private static final int MAX_SWEEPS = 64;

  private final List<RewriteRule> rules;
  private final Map<Class<? extends Op>, List<RewriteRule>> rulesByRoot = new HashMap<>();

  public Rewriter(List<RewriteRule> rules) {
    this.rules = List.copyOf(rules);
  }

  public Graph rewrite(Graph graph) {
    GraphEditor editor = new GraphEditor(graph);
    rewrite(editor);
    return editor.freeze();
  }

  /** Rewrites in place, and returns the number of times that each rule fired, by name. */
  public Map<String, Integer> rewrite(GraphEditor graph) {
    Map<String, Integer> fired = new TreeMap<>();
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      if (!sweep(graph, fired)) {
        return fired;
      }
    }
    String hottest =
        fired.entrySet().stream()
            .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
            .limit(3)
            .map(entry -> entry.getKey() + " (" + entry.getValue() + " times)")
            .collect(Collectors.joining(", "));
    throw new PartitaException(
        PassCode.REWRITE_DOES_NOT_END,
        "rules " + rules.stream().map(RewriteRule::name).collect(Collectors.joining(", ")),
        "no rule fires any more after " + MAX_SWEEPS + " sweeps",
        "still firing: " + hottest,
        "report this as a bug in Partita, with the model");
  }

  private boolean sweep(GraphEditor graph, Map<String, Integer> fired) {
    boolean changed = false;
    for (Node node : graph.nodes()) {
      if (!graph.isLive(node)) {
        continue;
      }
      for (RewriteRule rule : rulesFor(node.op())) {
        if (fires(rule, node, graph)) {
          fired.merge(rule.name(), 1, Integer::sum);
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  private List<RewriteRule> rulesFor(Op op) {
    return rulesByRoot.computeIfAbsent(
        op.getClass(),
        type -> rules.stream().filter(rule -> rule.root().isAssignableFrom(type)).toList());
  }

  private static boolean fires(RewriteRule rule, Node node, GraphEditor graph) {
    Value result = node.results().getFirst();
    if (graph.resolve(result) != result) {
      return false;
    }
    Optional<Match> match = rule.pattern().match(result, graph);
    if (match.isEmpty()) {
      return false;
    }
    graph.before(node);
    Optional<Value> replacement = rule.apply(node, match.get(), graph);
    replacement.ifPresent(value -> graph.replace(result, value));
    // A rule whose further conditions failed may have added nodes: others would rewrite them.
    graph.dropUnusedAdditions();
    return replacement.isPresent();
  }
}
