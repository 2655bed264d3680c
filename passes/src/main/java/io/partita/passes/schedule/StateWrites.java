package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The copies to the places of states, after everything else is computed. */
final class StateWrites {
  /**
   * A copy of the value of a state after the run.
   *
   * @param node the node in comments and reports
   */
  record Copy(Value value, Node node, Storage from, Storage to) {}

  private StateWrites() {}

  /**
   * @param storages the places of all nonempty values
   */
  static List<Copy> of(Module module, Map<Value, Storage> storages) {
    List<Copy> copies = new ArrayList<>();
    for (Module.State state : module.states()) {
      Value value = output(module.graph(), state.output());
      Storage from = storages.get(value);
      Storage to = storages.get(input(module.graph(), state.input()));
      if (value.type().shape().elements() > 0 && !from.equals(to)) {
        copies.add(new Copy(value, node(value), from, to));
      }
    }
    return copies;
  }

  /** Whether a value in a region must be read before these copies. */
  static boolean overwrite(List<Copy> copies, Region region) {
    return copies.stream().anyMatch(copy -> copy.to.region() == region);
  }

  private static Value input(Graph graph, String name) {
    return graph.inputs().stream()
        .filter(value -> value.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static Value output(Graph graph, String name) {
    return graph.outputs().stream()
        .filter(output -> output.name().equals(name))
        .findFirst()
        .orElseThrow()
        .value();
  }

  /** Returns the node that defines a value, or a new copying node for an input. */
  static Node node(Value value) {
    if (!value.isInput()) {
      return value.definition();
    }
    GraphBuilder graph = new GraphBuilder(value.name());
    Value input = graph.input(value.name(), value.type());
    return graph.at(value).addNode(new Movement.Reshape(value.type().shape()), List.of(input));
  }
}
