package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.lower.Lowerings;
import io.partita.passes.schedule.lower.TensorView;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Adds the tasks of a role that are loops over tiles.
 *
 * @param unsupported receives the nodes without kernel
 */
record LoopTasks(LoopKernels kernels, GuardedTasks tasks, Unsupported unsupported) {
  static List<TensorView> views(List<Storage> storages) {
    return storages.stream().map(Storage::view).toList();
  }

  /**
   * Adds a loop.
   *
   * @param text the comment of the loop
   * @param space empty if there is no kernel
   */
  void add(
      Node node,
      String text,
      Optional<TileSpace> space,
      List<Storage> operands,
      List<Storage> results) {
    add(node, node.origin(), text, space, operands, results);
  }

  private void add(
      Node node,
      Origin origin,
      String text,
      Optional<TileSpace> space,
      List<Storage> operands,
      List<Storage> results) {
    if (space.isEmpty()) {
      unsupported.add(node, "");
      return;
    }
    int kernel = kernels.index(space.get(), node.toString());
    List<Storage> all = Stream.concat(operands.stream(), results.stream()).toList();
    List<Storage> used =
        space.get().operands().stream().map(operand -> all.get(operand.value())).toList();
    tasks.add(new Task.Loop(kernel, kernels.kernels().get(kernel), used, origin, text));
  }

  /** Adds a loop for an operation of a node. */
  void add(Node node, Op op, List<Storage> operands, List<Storage> results) {
    Optional<TileSpace> space =
        Lowerings.lower(op, views(operands), views(results), kernels.arePaged());
    add(node, NodeText.of(node), space, operands, results);
  }

  /** The number of the task that was added last. */
  int last() {
    return tasks.size() - 1;
  }

  /**
   * Copies the elements of a storage for a node; as elements of another type, if it has one, else
   * in words, if both are in words.
   */
  void copy(Node node, Storage from, Storage to) {
    if (from.element().isFloat() && from.element() != to.element()) {
      add(node, new Elementwise.Cast(to.element()), List.of(from), List.of(to));
    } else {
      copy(node, node.origin(), NodeText.of(node), from, to);
    }
  }

  /** Copies an input for its readers, of which {@code node} is one. */
  void copy(Value input, Node node, Storage from, Storage to) {
    copy(node, input.origin(), "copy " + input.type(), from, to);
  }

  private void copy(Node node, Origin origin, String text, Storage from, Storage to) {
    List<Integer> identity = IntStream.range(0, from.shape().size()).boxed().toList();
    move(node, origin, text, new Movement.Transpose(identity), from, to);
  }

  /** Copies the elements of a storage to one of another shape, in words, if both are in words. */
  void reshape(Node node, Movement.Reshape op, Storage from, Storage to) {
    move(node, node.origin(), NodeText.of(node), op, from, to);
  }

  /** Returns the space of the loop that {@link #reshape} adds; empty if there is no kernel. */
  Optional<TileSpace> reshaping(Movement.Reshape op, Storage from, Storage to) {
    return Moved.of(from, to, kernels.arePaged()).space(op, kernels.arePaged());
  }

  /**
   * @param op keeps the order of elements
   */
  private void move(Node node, Origin origin, String text, Op op, Storage from, Storage to) {
    Moved moved = Moved.of(from, to, kernels.arePaged());
    add(
        node,
        origin,
        text,
        moved.space(op, kernels.arePaged()),
        List.of(moved.from),
        List.of(moved.to));
  }

  /** What a loop moves as it moves it: in words, if both are in words. */
  private record Moved(Storage from, Storage to) {
    /** Regions begin at multiples of a word; pages have elements of their own type. */
    static Moved of(Storage from, Storage to, boolean arePaged) {
      Optional<Storage> words = from.inElements(ElementType.I32);
      Optional<Storage> place = to.inElements(ElementType.I32);
      return arePaged || words.isEmpty() || place.isEmpty()
          ? new Moved(from, to)
          : new Moved(words.get(), place.get());
    }

    Optional<TileSpace> space(Op op, boolean arePaged) {
      return Lowerings.lower(op, List.of(from.view()), List.of(to.view()), arePaged);
    }
  }
}
