package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The values that tasks write, and those that are stored constants, for later comparison with the
 * reference.
 *
 * @param graphs the graph of each device of the role
 * @param written the written values, in the order of their tasks
 */
record WrittenValues(List<Graph> graphs, List<Written> written, List<Stored> stored) {
  /**
   * Returns the values with tasks at other places. An operation without a kernel, which is reported
   * later, may have no task.
   *
   * @param places the place of each task
   */
  WrittenValues at(int[] places) {
    return new WrittenValues(
        graphs,
        written.stream()
            .map(
                each ->
                    new Written(
                        each.task < 0 ? each.task : places[each.task],
                        each.node,
                        each.index,
                        each.storage,
                        each.isGuarded))
            .toList(),
        stored);
  }

  /**
   * A value that is complete after a task.
   *
   * @param isGuarded whether a device may skip the task
   */
  record Written(int task, int node, int index, Storage storage, boolean isGuarded) {}

  /** A value that fills the region of a constant. */
  record Stored(int node, int index, Region region) {}

  /** Collects the values that the tasks of a role write. */
  static final class Collector {
    private final Map<Node, Integer> numbers = new IdentityHashMap<>();
    private final List<Written> written = new ArrayList<>();

    Collector(Graph graph) {
      for (Node node : graph.nodes()) {
        numbers.put(node, numbers.size());
      }
    }

    /**
     * Adds a value that the last task has written.
     *
     * @param isGuarded whether a device may skip the task
     */
    void add(int task, Value value, Storage storage, boolean isGuarded) {
      if (storage.isContiguous() || storage.element().bits() >= Byte.SIZE) {
        int node = value.isInput() ? -1 : numbers.get(value.definition());
        written.add(new Written(task, node, value.index(), storage, isGuarded));
      }
    }

    WrittenValues values(List<Graph> graphs, Map<Value, Storage> storages) {
      List<Stored> stored = new ArrayList<>();
      for (Node node : graphs.getFirst().nodes()) {
        for (Value value : node.results()) {
          Storage storage = storages.get(value);
          if (storage != null && storage.isWholeConstant()) {
            stored.add(new Stored(numbers.get(node), value.index(), storage.region()));
          }
        }
      }
      return new WrittenValues(graphs, written, stored);
    }
  }
}
