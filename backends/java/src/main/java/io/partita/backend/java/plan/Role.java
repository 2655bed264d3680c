package io.partita.backend.java.plan;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Devices that share one class: their programs differ only in constants, in the peers of messages,
 * and in the offsets of parts.
 */
public final class Role {
  private final List<Integer> devices;
  private final List<Module> modules;
  private final Optional<Role> chunk;
  private final Map<Node, Integer> positions = new IdentityHashMap<>();

  /**
   * @param devices in ascending order
   * @param modules the module of each device
   * @param chunk the same devices in the program that takes several tokens at once; it shares
   *     weights and states
   */
  Role(List<Integer> devices, List<Module> modules, Optional<Role> chunk) {
    this.chunk = chunk;
    this.devices = List.copyOf(devices);
    this.modules = List.copyOf(modules);
    List<Node> nodes = module().graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      positions.put(nodes.get(i), i);
    }
  }

  /** A program that runs on one device. */
  static Role alone(Module module, Optional<Module> chunk) {
    return new Role(List.of(0), List.of(module), chunk.map(each -> alone(each, Optional.empty())));
  }

  /** The role for several tokens at once. */
  public Optional<Role> chunk() {
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
