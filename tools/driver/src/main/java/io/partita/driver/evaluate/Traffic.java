package io.partita.driver.evaluate;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Layout;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutInference;
import java.util.Map;
import java.util.TreeMap;

/**
 * The traffic of a run between devices.
 *
 * @param bytes the bytes of all messages of all devices
 * @param values the number of values of all devices that sums join
 * @param bits the bits in which each device sends what it holds, in one copy
 */
public record Traffic(long bytes, long values, long bits) {
  /**
   * @param module a module of the mesh dialect
   * @param program the program of its devices
   */
  static Traffic of(Module module, Program program) {
    long bytes =
        program.devices().stream()
            .flatMap(device -> device.graph().nodes().stream())
            .filter(node -> node.op() instanceof Communication.Exchange)
            .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
            .filter(Step.Send.class::isInstance)
            .mapToLong(Step::bytes)
            .sum();
    LayoutInference layouts = LayoutInference.of(module);
    // A sum that isn't joined by a single sync begins with each device's own term, and all nodes
    // that implement it have its name.
    Map<String, Long> values = new TreeMap<>();
    Map<String, Long> bits = new TreeMap<>();
    for (Node node : module.graph().nodes()) {
      boolean isSync = node.op() instanceof Communication.Sync;
      if (isSync || node.op() instanceof Communication.Localize) {
        Layout from = layouts.layout(node.operand(0));
        long elements = elements(node, from);
        if (!from.partial().isEmpty()) {
          values.merge(node.name(), elements, Math::max);
        }
        if (node.op() instanceof Communication.Sync sync) {
          int width = sync.codec().wire(node.operand(0).type().element()).bits();
          bits.merge(node.name(), elements * width, Long::sum);
        }
      }
    }
    values.keySet().retainAll(bits.keySet());
    bits.keySet().retainAll(values.keySet());
    return new Traffic(bytes, sum(values), sum(bits));
  }

  /** Returns the elements of a node's operand that all devices hold together. */
  private static long elements(Node node, Layout layout) {
    return layout.holders().stream()
        .mapToLong(device -> layout.localType(node.operand(0).type(), device).shape().elements())
        .sum();
  }

  private static long sum(Map<String, Long> numbers) {
    return numbers.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Bits on the wire of a value that a sum joins; 32 for f32 as it is. */
  public double bitsPerValue() {
    return (double) bits / values;
  }
}
