package io.partita.passes.program.localize;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Orders a device's nodes so that products can run while messages are in flight: an exchange that
 * nothing else could hide comes before the products that neither it nor an earlier exchange needs,
 * such as the queries of a device's own tokens, which no other device waits for. The order of
 * exchanges stays.
 */
public final class WorkAfterExchanges {
  private final List<Node> nodes;
  private final Predicate<Node> isExchange;
  private final List<Node> order = new ArrayList<>();

  /** Of exchanges, the first product that can run meanwhile. */
  private final Map<Node, Node> hiding = new IdentityHashMap<>();

  /** The nodes of which an exchange so far needs results, directly or not. */
  private final Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());

  private WorkAfterExchanges(Graph graph, Predicate<Node> isExchange) {
    this.nodes = graph.nodes();
    this.isExchange = isExchange;
    for (int at = 0; at < nodes.size(); at++) {
      Node node = nodes.get(at);
      if (isExchange.test(node)) {
        visit(node, at);
      } else {
        order.add(node);
      }
    }
  }

  /** Returns the nodes of a device's graph in execution order. */
  static List<Node> order(Graph graph) {
    return new WorkAfterExchanges(graph, node -> node.op() instanceof Exchange).order;
  }

  /**
   * Returns the gathers beside which a product can run that doesn't depend on them, each with one
   * such product, in execution order.
   *
   * @param module a module of the mesh dialect
   */
  public static List<Gather> gathers(Module module) {
    Map<Node, Node> hiding =
        new WorkAfterExchanges(module.graph(), node -> node.op() instanceof Sync).hiding;
    return module.graph().nodes().stream()
        .filter(node -> hiding.containsKey(node) && Gather.isGather(node))
        .map(node -> new Gather(node, hiding.get(node)))
        .toList();
  }

  /** Whether a node takes a significant time, more than beginning an exchange early. */
  static boolean isWork(Node node) {
    return node.op() instanceof Contraction
        || node.op() instanceof Structured.Linear
        || node.op() instanceof Structured.Ffn
        || node.op() instanceof Structured.Attention;
  }

  private void visit(Node exchange, int at) {
    need(exchange);
    Optional<Node> beside = beside(exchange, at);
    List<Node> moved = beside.isPresent() ? List.of() : movable();
    beside.or(() -> moved.stream().findFirst()).ifPresent(product -> hiding.put(exchange, product));
    order.add(exchange);
    order.addAll(moved);
  }

  private void need(Node node) {
    Deque<Node> work = new ArrayDeque<>(List.of(node));
    while (!work.isEmpty()) {
      for (Value operand : work.removeFirst().operands()) {
        if (operand.definition() != null && needed.add(operand.definition())) {
          work.add(operand.definition());
        }
      }
    }
  }

  /** Returns a product between an exchange and the next one that doesn't depend on it. */
  private Optional<Node> beside(Node exchange, int at) {
    int end = at + 1;
    while (end < nodes.size() && !isExchange.test(nodes.get(end))) {
      end++;
    }
    return independent(exchange, nodes.subList(at + 1, end)).stream()
        .filter(WorkAfterExchanges::isWork)
        .findFirst();
  }

  /** Returns the nodes after another one that don't depend on its results, in order. */
  static List<Node> independent(Node node, List<Node> following) {
    Set<Value> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
    waiting.addAll(node.results());
    List<Node> independent = new ArrayList<>();
    for (Node other : following) {
      if (other.operands().stream().anyMatch(waiting::contains)) {
        waiting.addAll(other.results());
      } else {
        independent.add(other);
      }
    }
    return independent;
  }

  /** Removes and returns products that no exchange so far needs, and what reads their results. */
  private List<Node> movable() {
    Set<Value> later = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Node> moved = new ArrayList<>();
    for (Node node : order) {
      boolean isFree = !needed.contains(node) && !isExchange.test(node);
      if (isFree && (isWork(node) || node.operands().stream().anyMatch(later::contains))) {
        moved.add(node);
        later.addAll(node.results());
      }
    }
    Set<Node> set = Collections.newSetFromMap(new IdentityHashMap<>());
    set.addAll(moved);
    order.removeIf(set::contains);
    return moved;
  }
}
