package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.passes.schedule.view.Destinations.Gathered;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The exchanges of the devices of a role, by those of the first device: all graphs have the same
 * number of them, in the same order.
 */
final class RoleExchanges {
  private final Map<Node, List<Communication.Exchange>> exchanges = new IdentityHashMap<>();
  private final Map<Value, List<Node>> readers;

  RoleExchanges(Program program, List<Integer> devices) {
    List<List<Node>> own = devices.stream().map(device -> nodes(graph(program, device))).toList();
    for (int i = 0; i < own.getFirst().size(); i++) {
      int number = i;
      exchanges.put(
          own.getFirst().get(i),
          own.stream().map(each -> (Communication.Exchange) each.get(number).op()).toList());
    }
    readers = graph(program, devices.getFirst()).readers();
  }

  private static Graph graph(Program program, int device) {
    return program.devices().get(device).graph();
  }

  private static List<Node> nodes(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Communication.Exchange)
        .toList();
  }

  /** Returns the exchange of each device, in order. */
  List<Communication.Exchange> of(Node node) {
    return exchanges.get(node);
  }

  /** Returns an exchange of each device and the {@linkplain #rest rest} of it, as one. */
  List<Communication.Exchange> of(Node node, Node rest) {
    List<Communication.Exchange> joined = new ArrayList<>();
    for (int i = 0; i < of(node).size(); i++) {
      joined.add(of(node).get(i).with(of(rest).get(i)));
    }
    return joined;
  }

  /** Returns the exchange that goes on with the same elements of the same sync, if there is one. */
  Optional<Node> rest(Node node) {
    List<Node> users = readers(node);
    boolean isContinued =
        users.size() == 1
            && node.result().type().shape().elements() > 0
            && node.op() instanceof Communication.Exchange first
            && users.getFirst().op() instanceof Communication.Exchange second
            && first.isContinuedBy(second);
    return isContinued ? Optional.of(users.getFirst()) : Optional.empty();
  }

  /**
   * Returns the operand of an exchange, if its elements are adjacent and the same on all devices,
   * which get the whole vector; none if messages bring the operand.
   */
  Optional<Gathered> gathered(Node node) {
    Optional<Node> rest = rest(node);
    List<Communication.Exchange> all = rest.map(last -> of(node, last)).orElseGet(() -> of(node));
    Communication.Exchange first = all.getFirst();
    boolean isGathered =
        !node.operands().isEmpty()
            && first.before().size() == 1
            && all.stream().allMatch(each -> each.before().equals(first.before()))
            && all.stream().allMatch(each -> each.isWhole(each.after()))
            && !first.isWhole(first.before())
            && !(node.operand(0).definition() != null
                && node.operand(0).definition().op() instanceof Communication);
    return isGathered
        ? Optional.of(new Gathered(first.before().getFirst(), rest.orElse(node).result()))
        : Optional.empty();
  }

  /** Whether the operand of an exchange is written into the vector that becomes its result. */
  boolean sharesVector(Node node) {
    return gathered(node).isPresent()
        || !node.operands().isEmpty()
            && node.operand(0).definition() instanceof Node first
            && exchanges.containsKey(first)
            && rest(first).equals(Optional.of(node))
            && gathered(first).isPresent();
  }

  /** Returns the nodes that read the result of an exchange. */
  List<Node> readers(Node node) {
    return readers.getOrDefault(node.result(), List.of());
  }
}
