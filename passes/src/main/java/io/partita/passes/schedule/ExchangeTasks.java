package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Destinations;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Sharing;
import io.partita.passes.schedule.view.Storage;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The tasks of exchanges, which may begin before other tasks and end after them. */
final class ExchangeTasks {
  private final RoleExchanges exchanges;
  private final Destinations destinations;
  private final Sharing sharing;
  private final Map<Value, Storage> storages;
  private final GuardedTasks tasks;
  private final Unsupported unsupported;
  private final Consumer<Value> written;

  /** Exchanges that have begun, by the node that ends them. */
  private final Map<Node, ExchangePlaces> begun = new IdentityHashMap<>();

  /** The regions that results of exchanges are in. */
  private final Set<Region> given = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * @param storages the places of values, which gets those of results
   * @param unsupported receives the nodes that join elements of a type without a kernel
   * @param written receives each value that the last task has written to its place
   */
  ExchangeTasks(
      RoleExchanges exchanges,
      Destinations destinations,
      Sharing sharing,
      Map<Value, Storage> storages,
      GuardedTasks tasks,
      Unsupported unsupported,
      Consumer<Value> written) {
    this.exchanges = exchanges;
    this.destinations = destinations;
    this.sharing = sharing;
    this.storages = storages;
    this.tasks = tasks;
    this.unsupported = unsupported;
    this.written = written;
  }

  /**
   * Adds the task of an exchange, or of the part of one that begins here or ends here.
   *
   * @param step the number of the node's group
   */
  void add(int step, Node node) {
    ExchangePlaces begun = this.begun.remove(node);
    if (begun != null) {
      finish(node, begun);
      return;
    }
    Optional<Node> rest = exchanges.rest(node);
    if (rest.isPresent() && !tasks.isGuarded()) {
      List<Communication.Exchange> all = exchanges.of(node, rest.get());
      ExchangePlaces places = places(step, node, all, rest.get().result());
      tasks.add(new Task.BeginExchange(places.task()));
      storages.put(node.result(), places.task().vector());
      this.begun.put(rest.get(), places);
    } else {
      finish(node, places(step, node, exchanges.of(node), node.result()));
    }
  }

  /** Whether an exchange that has begun and not ended sends from a region. */
  boolean isSending(Region region) {
    return begun.values().stream()
        .flatMap(places -> places.task().operand().stream())
        .anyMatch(operand -> operand.region() == region);
  }

  /** Whether an exchange gives what is in a region, which is in the home memory therefore. */
  boolean gives(Region region) {
    return given.contains(region);
  }

  private ExchangePlaces places(
      int step, Node node, List<Communication.Exchange> all, Value result) {
    if (!ExchangePlaces.canJoin(all, node.result().type().element())) {
      unsupported.add(node, "with parts that are reduced on the way");
    }
    boolean dies = node.operands().isEmpty() || sharing.lastReader(node.operand(0)) <= step;
    Optional<Storage> operand =
        node.operands().isEmpty() || ChipLowering.isEmpty(node.operand(0).type())
            ? Optional.empty()
            : Optional.of(storages.get(node.operand(0)));
    boolean gets = !ChipLowering.isEmpty(result.type());
    boolean isBegun = result != node.result();
    // Until an exchange that has begun ends, a state may still be read.
    Optional<Storage> destination =
        destinations
            .of(result)
            .filter(given -> gets && !(isBegun && given.region().kind() == Region.Kind.STATE));
    ExchangePlaces places =
        ExchangePlaces.of(all, node.origin(), result.type(), operand, dies, destination);
    if (places.task().operand().isPresent() && !places.task().operand().get().isContiguous()) {
      throw new IllegalStateException(node + " reads a strided operand");
    }
    return places;
  }

  private void finish(Node node, ExchangePlaces places) {
    tasks.add(places.task());
    if (!ChipLowering.isEmpty(node.result().type())) {
      storages.put(node.result(), places.result());
      given.add(places.result().region());
      wroteExchanged(node);
    }
  }

  /** What is stored in lines is the value of its only reader, which gives it their shape. */
  private void wroteExchanged(Node node) {
    Storage stored = storages.get(node.result());
    if (stored.shape().size() == node.result().type().rank()) {
      written.accept(node.result());
      return;
    }
    Value shaped = exchanges.readers(node).getFirst().result();
    List<Long> extents = Arrays.stream(shaped.type().shape().extents()).boxed().toList();
    storages.put(shaped, stored.reshaped(extents).orElseThrow());
    written.accept(shaped);
  }
}
