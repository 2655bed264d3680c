package io.partita.backend.java.plan;

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
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Groups the devices of a program that can share a class. */
public final class Roles {
  private Roles() {}

  /**
   * The roles in the order of their first devices.
   *
   * @param chunk the program of the same devices for several tokens at once
   */
  public static List<Role> of(List<Module> devices, Optional<List<Module>> chunk) {
    Map<List<Object>, List<Integer>> same = new LinkedHashMap<>();
    for (int device = 0; device < devices.size(); device++) {
      List<Object> form = new ArrayList<>(form(devices.get(device)));
      if (chunk.isPresent()) {
        form.add(form(chunk.get().get(device)));
      }
      same.computeIfAbsent(form, key -> new ArrayList<>()).add(device);
    }
    return same.values().stream()
        .map(role -> role(role, devices, chunk.map(own -> role(role, own, Optional.empty()))))
        .toList();
  }

  private static Role role(List<Integer> role, List<Module> devices, Optional<Role> chunk) {
    return new Role(role, role.stream().map(devices::get).toList(), chunk);
  }

  /** A program without the parts that may differ between the devices of a role. */
  private static List<Object> form(Module module) {
    List<Object> form = new ArrayList<>();
    Map<Value, Integer> numbers = new IdentityHashMap<>();
    for (Value input : module.graph().inputs()) {
      numbers.put(input, numbers.size());
      form.add(input.name());
      form.add(input.type());
    }
    Map<Object, Integer> data = new IdentityHashMap<>();
    for (Node node : module.graph().nodes()) {
      form.add(form(node.op()));
      // A weight that is stored once in the weights file must be so on all devices.
      node.constant().ifPresent(c -> form.add(data.computeIfAbsent(c.bytes(), k -> data.size())));
      node.operands().forEach(operand -> form.add(numbers.get(operand)));
      for (Value result : node.results()) {
        numbers.put(result, numbers.size());
        form.add(result.type());
      }
    }
    for (Graph.Output output : module.graph().outputs()) {
      form.add(output.name());
      form.add(numbers.get(output.value()));
    }
    form.addAll(module.states());
    return form;
  }

  private static Object form(Op op) {
    return switch (op) {
      case Source.Constant constant -> constant.mnemonic();
      case Movement.Slice slice -> List.of(slice.mnemonic(), slice.steps());
      case Structured.Attention attention ->
          new Structured.Attention(
              attention.scale(),
              attention.softCap(),
              attention.causal(),
              Dim.ZERO,
              attention.window(),
              attention.mask(),
              attention.keyLength());
      case Communication.Exchange exchange ->
          List.of(
              exchange.mnemonic(),
              exchange.element(),
              exchange.before().size(),
              exchange.after().size(),
              exchange.steps().stream().map(Roles::form).toList());
      case Op other -> other;
    };
  }

  private static List<Object> form(Step step) {
    return switch (step) {
      case Step.Send send -> List.of("send", send.slices().size());
      case Step.Receive receive -> List.of(receive.combine(), receive.slices().size());
    };
  }
}
