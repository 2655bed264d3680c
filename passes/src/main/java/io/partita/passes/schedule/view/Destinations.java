package io.partita.passes.schedule.view;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Slice;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The storage into which values are written directly, without a copy: parts of a concatenation or
 * of the vector of an exchange, the result of a reshape of a transpose, and new values of states.
 */
public final class Destinations {
  /**
   * The operand of an exchange that gives its whole vector, if it can be written there.
   *
   * @param own which elements of the vector it is
   * @param whole the vector: the result of the exchange, or of what goes on with it
   */
  public record Gathered(Slice own, Value whole) {}

  private final Map<Value, Storage> destinations = new IdentityHashMap<>();

  private final Map<Value, List<Node>> readers;

  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  private final StoredTypes types;

  private final Function<Node, Optional<Gathered>> gathered;

  private Destinations(
      Graph graph, StoredTypes types, Function<Node, Optional<Gathered>> gathered) {
    this.types = types;
    this.gathered = gathered;
    this.readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /**
   * @param states the storage of inputs that are states
   * @param steps by node, the index of the step that computes it
   * @param gathered of an exchange, its operand if it can be written into the vector
   */
  public static Destinations of(
      Module module,
      StoredTypes types,
      Map<Value, Storage> states,
      Sharing sharing,
      Map<Node, Integer> steps,
      Function<Node, Optional<Gathered>> gathered) {
    Destinations made = new Destinations(module.graph(), types, gathered);
    for (Module.State state : module.states()) {
      Value input = named(module.graph(), state.input());
      Value output =
          module.graph().outputs().stream()
              .filter(each -> each.name().equals(state.output()))
              .findFirst()
              .orElseThrow()
              .value();
      if (!output.isInput()
          && steps.containsKey(output.definition())
          && !(output.definition().op() instanceof Movement)
          && sharing.lastReader(input) < steps.get(output.definition())) {
        made.assign(output, states.get(input));
      }
    }
    module.graph().nodes().reversed().forEach(made::visit);
    return made;
  }

  private static Value named(Graph graph, String name) {
    return graph.inputs().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the storage of a value; none if it may be anywhere. */
  public Optional<Storage> of(Value value) {
    return Optional.ofNullable(destinations.get(value));
  }

  private void visit(Node node) {
    switch (node.op()) {
      case Movement.Concat(var axis) -> {
        Storage result = ownOrNew(node.result());
        long start = 0;
        for (Value operand : node.operands()) {
          long size = operand.type().shape().extent(axis);
          if (size > 0) {
            assign(operand, result.part(axis, start, size));
          }
          start += size;
        }
      }
      case Movement.Reshape reshape when isTransposed(node.operand(0)) -> {
        Storage result = destinations.get(node.result());
        Storage tried = result != null ? result : Storage.fresh(node.result(), types);
        if (assign(node.operand(0), source(node, tried))) {
          destinations.put(node.result(), tried);
        }
      }
      case Movement.Reshape reshape -> passOn(node);
      case Movement.Transpose transpose -> passOn(node);
      case Elementwise.Cast cast when isAlias(node) -> passOn(node);
      case Communication.Exchange exchange ->
          gathered.apply(node).ifPresent(own -> own(node.operand(0), own));
      case Op other -> {}
    }
  }

  /** The operand of an exchange is written where its elements are in the vector. */
  private void own(Value operand, Gathered gathered) {
    Value whole = gathered.whole();
    Slice own = gathered.own();
    Storage vector = destinations.getOrDefault(whole, Storage.fresh(whole, types));
    boolean isPlace = vector.isContiguous() && vector.region().kind() == Region.Kind.ACTIVATION;
    if (isPlace
        && assign(
            operand,
            vector
                .reshaped(List.of(vector.elements()))
                .map(line -> line.part(0, own.start(), own.size())))) {
      destinations.put(whole, vector);
    }
  }

  private static boolean isTransposed(Value value) {
    return !value.isInput() && value.definition().op() instanceof Movement.Transpose;
  }

  private void passOn(Node node) {
    Storage result = destinations.get(node.result());
    if (result != null) {
      assign(node.operand(0), source(node, result));
    }
  }

  /**
   * The result of an exchange has one dimension, but may be stored in lines for its only reader.
   */
  private Optional<Storage> source(Node node, Storage result) {
    Value operand = node.operand(0);
    boolean isExchanged =
        node.op() instanceof Movement.Reshape
            && !operand.isInput()
            && operand.definition().op() instanceof Communication.Exchange
            && readers.get(operand).size() == 1
            && !outputs.contains(operand);
    return isExchanged
        ? result.inLines()
        : ViewRules.source(node.op(), result, types.type(operand));
  }

  /** Whether a cast only tells in which type kernels compute. */
  private boolean isAlias(Node cast) {
    return types.element(cast.operand(0)) == types.element(cast.result());
  }

  private Storage ownOrNew(Value value) {
    return destinations.computeIfAbsent(value, key -> Storage.fresh(key, types));
  }

  private boolean assign(Value value, Optional<Storage> storage) {
    return storage.isPresent() && assign(value, storage.get());
  }

  /** Assigns a storage to a value, if the node that defines it can write there. */
  private boolean assign(Value value, Storage storage) {
    if (value.isInput() || destinations.containsKey(value) || !storage.isWritable()) {
      return false;
    }
    boolean possible =
        switch (value.definition().op()) {
          case Source source -> false;
          case Structured.CacheUpdate update -> false;
          case Communication.Gate gate -> false;
          case Communication exchange ->
              storage.element() == types.element(value) && storage.lines().isPresent();
          case Movement.Slice slice -> false;
          case Movement.Broadcast broadcast -> false;
          case Movement.Reshape reshape -> canPassOn(value.definition(), storage);
          case Movement.Transpose transpose -> canPassOn(value.definition(), storage);
          case Elementwise.Cast cast when isAlias(value.definition()) ->
              canPassOn(value.definition(), storage);
          case Op computed -> true;
        };
    if (possible) {
      destinations.put(value, storage);
    }
    return possible;
  }

  /** Returns whether the operand of a view can be written so that the view has a given storage. */
  private boolean canPassOn(Node node, Storage storage) {
    Value operand = node.operand(0);
    Optional<Storage> source = source(node, storage);
    if (source.isEmpty() || operand.isInput() || destinations.containsKey(operand)) {
      return false;
    }
    return switch (operand.definition().op()) {
      case Source constant -> false;
      case Structured.CacheUpdate update -> false;
      case Communication.Gate gate -> false;
      case Communication exchange ->
          source.get().element() == types.element(operand) && source.get().lines().isPresent();
      case Movement.Slice slice -> false;
      case Movement.Broadcast broadcast -> false;
      case Movement.Reshape reshape -> canPassOn(operand.definition(), source.get());
      case Movement.Transpose transpose -> canPassOn(operand.definition(), source.get());
      case Elementwise.Cast cast when isAlias(operand.definition()) ->
          canPassOn(operand.definition(), source.get());
      case Op computed -> true;
    };
  }
}
