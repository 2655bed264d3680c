package io.partita.passes.program.localize;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.passes.program.collective.ProgramProof;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Moves computation before receives: nodes between an exchange and the next one that don't depend
 * on its result run before its first receive, and after the sends that wait for none. The exchange
 * becomes two: one with these sends, and one with the rest on the same vector. So messages are in
 * flight while the device computes, as for a sync in tiles ({@link OverlapSyncs}). So that there is
 * something to compute, products of gathered values are divided first ({@link OwnPartsFirst}), and
 * products that no exchange needs come after one ({@link WorkAfterExchanges}). Each device sends
 * and receives in the same order as before.
 */
public final class DelayReceives {
  private final Graph graph;
  private final GraphBuilder builder;
  private final Map<Value, Value> copies = new IdentityHashMap<>();

  private DelayReceives(Graph graph) {
    this.graph = graph;
    this.builder = new GraphBuilder(graph.name());
  }

  /**
   * @param capacity the number of messages that each channel holds
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link
   *     io.partita.passes.program.collective.CollectiveCode} if the program can't be proved
   */
  public static Program apply(Program program, int capacity) {
    List<Module> devices = new ArrayList<>();
    for (Module device : program.devices()) {
      devices.add(device.with(new DelayReceives(OwnPartsFirst.run(device.graph())).run()));
    }
    Program changed = new Program(program.mesh(), devices, program.inputs(), program.outputs());
    ProgramProof.verify(changed, capacity);
    return changed;
  }

  private Graph run() {
    graph.inputs().forEach(in -> copies.put(in, builder.input(in.name(), in.type())));
    List<Node> nodes = WorkAfterExchanges.order(graph);
    int at = 0;
    while (at < nodes.size()) {
      if (!(nodes.get(at).op() instanceof Exchange exchange)) {
        add(nodes.get(at++));
        continue;
      }
      int next = at + 1;
      while (next < nodes.size() && !(nodes.get(next).op() instanceof Exchange)) {
        next++;
      }
      place(nodes.get(at), exchange, nodes.subList(at + 1, next));
      at = next;
    }
    graph.outputs().forEach(out -> builder.output(out.name(), copies.get(out.value())));
    return builder.finish();
  }

  private void add(Node node) {
    add(node, node.operands().stream().map(copies::get).toList());
  }

  private void add(Node node, List<Value> operands) {
    Node copy = builder.at(node).addNode(node.op(), operands);
    for (int i = 0; i < copy.results().size(); i++) {
      copies.put(node.results().get(i), copy.results().get(i));
    }
  }

  /** An exchange and the nodes between it and the next one. */
  private void place(Node node, Exchange exchange, List<Node> following) {
    List<Node> free = WorkAfterExchanges.independent(node, following);
    int sends = 0;
    while (sends < exchange.steps().size() && exchange.steps().get(sends) instanceof Step.Send) {
      sends++;
    }
    boolean waits = sends < exchange.steps().size();
    if (!waits || free.stream().noneMatch(WorkAfterExchanges::isWork)) {
      add(node);
      following.forEach(this::add);
      return;
    }
    List<Value> operands = node.operands().stream().map(copies::get).toList();
    if (sends > 0) {
      Exchange first = part(exchange, 0, sends, true);
      operands = builder.at(node).addNode(first, operands).results();
    }
    free.forEach(this::add);
    Exchange rest = part(exchange, sends, exchange.steps().size(), false);
    Node copy = builder.at(node).addNode(rest, operands);
    copies.put(node.result(), copy.result());
    Set<Node> placed = Collections.newSetFromMap(new IdentityHashMap<>());
    placed.addAll(free);
    following.stream().filter(other -> !placed.contains(other)).forEach(this::add);
  }

  /**
   * Returns an exchange of some of the steps; before the last ones, the device holds the same
   * elements as before.
   */
  private static Exchange part(Exchange exchange, int from, int to, boolean isFirst) {
    return new Exchange(
        exchange.sync(),
        exchange.elements(),
        exchange.element(),
        exchange.before(),
        isFirst ? exchange.before() : exchange.after(),
        exchange.steps().subList(from, to));
  }
}
