package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Storage;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** Rows of constant tables that are fetched from a memory farther than the home memory. */
final class FetchedRows {
  /** The alignment of rows in a farther memory, in bytes. */
  private static final long ROW_ALIGNMENT = 4;

  private final Map<Value, Storage> storages;
  private final GuardedTasks tasks;
  private final Function<Value, Storage> placeFor;
  private final Consumer<Value> written;

  /**
   * @param storages the places of values, which gets those of results
   * @param placeFor returns a place for a result
   * @param written receives each value that the last task has written to its place
   */
  FetchedRows(
      Map<Value, Storage> storages,
      GuardedTasks tasks,
      Function<Value, Storage> placeFor,
      Consumer<Value> written) {
    this.storages = storages;
    this.tasks = tasks;
    this.placeFor = placeFor;
    this.written = written;
  }

  /**
   * Adds the task of an embedding or of a gather of rows, if it can fetch them.
   *
   * @return whether it was added
   */
  boolean add(Node node) {
    Storage table = storages.get(node.operand(0));
    Storage indices = storages.get(node.operand(1));
    if (table == null || indices == null || !table.isWholeConstant()) {
      return false;
    }
    long rows = table.shape().getFirst();
    long rowBytes = table.region().bytes() / rows;
    Storage result = placeFor.apply(node.result());
    boolean isPossible =
        rowBytes * rows == table.region().bytes()
            && rowBytes % ROW_ALIGNMENT == 0
            && (indices.element() == ElementType.I32 || indices.element() == ElementType.I64)
            && indices.isContiguous()
            && result.isContiguous();
    if (isPossible) {
      storages.put(node.result(), result);
      tasks.fetch(
          number ->
              new Task.Rows(number, table.region(), rows, rowBytes, indices, result, node.origin()),
          () -> written.accept(node.result()));
    }
    return isPossible;
  }
}
