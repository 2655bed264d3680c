package io.partita.backend.java.plan;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The program of one class, which the devices of a {@link Role} share. */
public final class DeviceClass {
  private final List<Integer> devices;
  private final List<Module> modules;
  private final Optional<DeviceClass> chunk;
  private final Map<Node, Integer> positions = new IdentityHashMap<>();

  /**
   * @param devices in ascending order
   * @param modules the module of each device
   * @param chunk the same devices in the program that takes several tokens at once; it shares
   *     weights and states
   */
  DeviceClass(List<Integer> devices, List<Module> modules, Optional<DeviceClass> chunk) {
    this.chunk = chunk;
    this.devices = List.copyOf(devices);
    this.modules = List.copyOf(modules);
    List<Node> nodes = module().graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      positions.put(nodes.get(i), i);
    }
  }

  /**
   * Returns the classes in the order of their first devices. Devices share a class if they have one
   * role in both programs. The sizes of messages are data here.
   *
   * @param chunk the program of the same devices for several tokens at once
   */
  static List<DeviceClass> of(List<Module> devices, Optional<List<Module>> chunk) {
    List<Object> roles = keys(devices);
    Optional<List<Object>> chunkRoles = chunk.map(DeviceClass::keys);
    Map<List<Object>, List<Integer>> classes = new LinkedHashMap<>();
    for (int device = 0; device < devices.size(); device++) {
      int place = device;
      List<Object> key = new ArrayList<>(List.of(roles.get(device)));
      chunkRoles.ifPresent(own -> key.add(own.get(place)));
      classes.computeIfAbsent(key, each -> new ArrayList<>()).add(device);
    }
    return classes.values().stream()
        .map(own -> of(own, devices, chunk.map(all -> of(own, all, Optional.empty()))))
        .toList();
  }

  private static DeviceClass of(
      List<Integer> own, List<Module> devices, Optional<DeviceClass> chunk) {
    return new DeviceClass(own, own.stream().map(devices::get).toList(), chunk);
  }

  /** For each device its role, and which constants are one array in the weights file. */
  private static List<Object> keys(List<Module> devices) {
    Object[] keys = new Object[devices.size()];
    for (Role role : Roles.of(devices, DeviceClass::messages)) {
      for (int device : role.devices()) {
        keys[device] = List.of(role.devices().getFirst(), shared(devices.get(device)));
      }
    }
    return List.of(keys);
  }

  private static List<Integer> shared(Module module) {
    Map<Object, Integer> arrays = new IdentityHashMap<>();
    List<Integer> shared = new ArrayList<>();
    for (Node node : module.graph().nodes()) {
      node.constant()
          .ifPresent(
              data -> shared.add(arrays.computeIfAbsent(data.bytes(), key -> arrays.size())));
    }
    return shared;
  }

  private static List<Object> messages(Communication.Exchange exchange) {
    return List.of(
        exchange.element(),
        exchange.before().size(),
        exchange.after().size(),
        exchange.steps().stream().map(DeviceClass::form).toList());
  }

  private static List<Object> form(Step step) {
    return switch (step) {
      case Step.Send send -> List.of("send", send.slices().size());
      case Step.Receive receive -> List.of(receive.combine(), receive.slices().size());
    };
  }

  /** A program that runs on one device. */
  static DeviceClass alone(Module module, Optional<Module> chunk) {
    return new DeviceClass(
        List.of(0), List.of(module), chunk.map(each -> alone(each, Optional.empty())));
  }

  /** The role for several tokens at once. */
  public Optional<DeviceClass> chunk() {
    return chunk;
  }

  public List<Integer> devices() {
    return devices;
  }

  /** The program of the first device, which represents all. */
  public Module module() {
    return modules.getFirst();
  }

  /** The counterparts of a node of {@link #module} on each of the devices. */
  List<Node> nodes(Node node) {
    int position = positions.get(node);
    return modules.stream().map(module -> module.graph().nodes().get(position)).toList();
  }

  /** The operation of a node of {@link #module} on each of the devices. */
  public List<Op> operations(Node node) {
    return nodes(node).stream().map(Node::op).toList();
  }

  /** Whether a constant differs between devices. */
  boolean varies(Node constant) {
    Tensor first = constant.constant().orElseThrow();
    return nodes(constant).stream().anyMatch(node -> !node.constant().orElseThrow().equals(first));
  }
}
