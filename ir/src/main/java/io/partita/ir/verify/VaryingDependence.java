package io.partita.ir.verify;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The dependence of an output on values that vary over a mesh axis: it differs from the result on
 * one device, and depends on the number of devices.
 *
 * @param begins the nodes at which values begin to vary, in execution order
 * @param exits the nodes at which they are settled
 */
public record VaryingDependence(String output, String axis, List<Node> begins, List<Node> exits) {
  public VaryingDependence {
    begins = List.copyOf(begins);
    exits = List.copyOf(exits);
  }

  /** Returns the dependences of a valid module, by output and axis. */
  public static List<VaryingDependence> of(Module module) {
    List<VaryingDependence> dependences = new ArrayList<>();
    for (Graph.Output output : module.graph().outputs()) {
      Map<String, List<Node>> begins = new TreeMap<>();
      Map<String, List<Node>> exits = new TreeMap<>();
      Set<Node> needed = needed(output.value());
      for (Node node : module.graph().nodes()) {
        if (needed.contains(node) && node.op() instanceof Communication.Variation variation) {
          (variation instanceof Communication.Settle ? exits : begins)
              .computeIfAbsent(variation.axis(), axis -> new ArrayList<>())
              .add(node);
        }
      }
      exits.forEach(
          (axis, settled) ->
              dependences.add(
                  new VaryingDependence(
                      output.name(), axis, begins.getOrDefault(axis, List.of()), settled)));
    }
    return dependences;
  }

  private static Set<Node> needed(Value output) {
    Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Value> open = new ArrayDeque<>(List.of(output));
    while (!open.isEmpty()) {
      Node node = open.removeFirst().definition();
      if (node != null && needed.add(node)) {
        open.addAll(node.operands());
      }
    }
    return needed;
  }

  /** {@code output "y" depends on values that vary over x: from localize …, ended by …}. */
  @Override
  public String toString() {
    return "output \""
        + output
        + "\" depends on values that vary over "
        + axis
        + ": from "
        + text(begins)
        + ", ended by "
        + text(exits);
  }

  private static String text(List<Node> nodes) {
    Map<String, List<String>> places = new TreeMap<>();
    for (Node node : nodes) {
      String kind =
          node.op() instanceof Communication.Settle settle
              ? "settle by " + settle.exit()
              : node.op().mnemonic();
      places.computeIfAbsent(kind, key -> new ArrayList<>()).add(node.name());
    }
    return places.entrySet().stream()
        .map(entry -> entry.getKey() + places(entry.getValue()))
        .collect(Collectors.joining(" and "));
  }

  private static String places(List<String> names) {
    String first = names.getFirst().isEmpty() ? "" : " at \"" + names.getFirst() + '"';
    return first + (names.size() == 1 ? "" : " (" + names.size() + " places)");
  }
}
