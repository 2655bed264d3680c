package io.partita.ir.program;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Groups devices that do the same with different data: 64 devices mostly have a handful of roles.
 */
public final class Roles {
  /** Larger constants are equal only if they are the same memory. */
  private static final int MAX_COMPARED = 256;

  private Roles() {}

  /** The work of a device, without what may differ within a role. */
  private record Form(
      List<Port> inputs, List<Use> nodes, List<Port> outputs, List<Module.State> states) {}

  /** An operand; {@code value} counts inputs, then all results. */
  private record Port(String name, TensorType type, int value) {}

  private record Use(String name, Object op, List<Integer> operands, List<TensorType> results) {}

  /** A message without its peer and its place in the vector. */
  private record Messages(int sync, long elements, List<Message> steps) {}

  private record Message(boolean sends, Combine combine, long bytes) {}

  /** Returns the roles in the order of their first devices; each device has exactly one. */
  public static List<Role> of(Program program) {
    return of(program.devices(), Roles::form);
  }

  /**
   * Returns the roles in the order of their first devices; each device has exactly one.
   *
   * @param devices the module of each device
   * @param messages gives what the corresponding exchanges of a role's devices must have in common;
   *     the rest of them may vary
   */
  public static List<Role> of(
      List<Module> devices, Function<Communication.Exchange, Object> messages) {
    Map<Form, List<Integer>> groups = new LinkedHashMap<>();
    for (int device = 0; device < devices.size(); device++) {
      groups
          .computeIfAbsent(form(devices.get(device), messages), key -> new ArrayList<>())
          .add(device);
    }
    return groups.values().stream()
        .map(numbers -> new Role(numbers, varying(numbers.stream().map(devices::get).toList())))
        .toList();
  }

  private static Form form(Module module, Function<Communication.Exchange, Object> messages) {
    Graph graph = module.graph();
    Map<Value, Integer> numbers = new IdentityHashMap<>();
    List<Port> inputs = new ArrayList<>();
    for (Value input : graph.inputs()) {
      numbers.put(input, numbers.size());
      inputs.add(new Port(input.name(), input.type(), input.index()));
    }
    List<Use> nodes = new ArrayList<>();
    for (Node node : graph.nodes()) {
      node.results().forEach(result -> numbers.put(result, numbers.size()));
      nodes.add(
          new Use(
              node.name(),
              form(node.op(), messages),
              node.operands().stream().map(numbers::get).toList(),
              node.results().stream().map(Value::type).toList()));
    }
    List<Port> outputs =
        graph.outputs().stream()
            .map(out -> new Port(out.name(), out.value().type(), numbers.get(out.value())))
            .toList();
    return new Form(inputs, nodes, outputs, module.states());
  }

  private static Object form(Op op, Function<Communication.Exchange, Object> messages) {
    return switch (op) {
      case Source.Constant constant -> "constant";
      case Movement.Slice(var starts, var sizes, var steps) ->
          new Movement.Slice(Collections.nCopies(starts.size(), Dim.ZERO), sizes, steps);
      case Structured.Attention a -> a.withOffset(Dim.ZERO);
      case Communication.Exchange exchange -> messages.apply(exchange);
      case Op same -> same;
    };
  }

  private static Messages form(Communication.Exchange exchange) {
    List<Message> steps = new ArrayList<>();
    for (Step step : exchange.steps()) {
      steps.add(
          switch (step) {
            case Step.Send send -> new Message(true, Combine.REPLACE, send.bytes());
            case Step.Receive in -> new Message(false, in.combine(), in.bytes());
          });
    }
    return new Messages(exchange.sync(), exchange.elements(), steps);
  }

  private static SortedSet<Integer> varying(List<Module> devices) {
    List<Node> first = devices.getFirst().graph().nodes();
    SortedSet<Integer> varying = new TreeSet<>();
    for (Module device : devices.subList(1, devices.size())) {
      List<Node> own = device.graph().nodes();
      for (int i = 0; i < own.size(); i++) {
        if (!isSame(first.get(i).op(), own.get(i).op())) {
          varying.add(i);
        }
      }
    }
    return varying;
  }

  private static boolean isSame(Op left, Op right) {
    if (left instanceof Source.Constant(Tensor first)
        && right instanceof Source.Constant(Tensor second)) {
      return first == second || first.size() <= MAX_COMPARED && first.equals(second);
    }
    return left.equals(right);
  }
}
