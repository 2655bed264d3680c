package io.partita.driver.evaluate;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutInference;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The traffic of a run between devices.
 *
 * @param bytes the bytes of all messages of all devices
 * @param blockBytes those of the syncs of transformer blocks
 * @param values the number of values of all devices that sums join or that blocks exchange
 * @param bits the bits in which devices send these values, in one copy
 */
public record Traffic(long bytes, long blockBytes, long values, long bits) {
  /**
   * @param module a module of the mesh dialect
   * @param program the program of its devices
   */
  static Traffic of(Module module, Program program) {
    LayoutInference layouts = LayoutInference.of(module);
    Map<String, Long> values = new TreeMap<>();
    Map<String, Long> coded = new TreeMap<>();
    Map<String, Long> bits = new TreeMap<>();
    for (Node node : module.graph().nodes()) {
      switch (node.op()) {
        case Communication.Sync sync -> {
          Layout from = layouts.layout(node.operand(0));
          long elements = elements(node.operand(0), from);
          int width = sync.codec().wire(node.operand(0).type().element()).bits();
          bits.merge(node.name(), elements * width, Long::sum);
          if (!from.partial().isEmpty() || node.origin().block().isPresent()) {
            values.merge(node.name(), elements, Long::sum);
          }
        }
        // The nodes of a rewritten sync have its name. Codes are sent, but the values are each
        // device's own term of a sum, or its own part of what devices gather.
        case Communication.Localize _ -> {
          Layout from = layouts.layout(node.operand(0));
          if (!from.partial().isEmpty()) {
            coded.merge(node.name(), elements(node.operand(0), from), Math::max);
          }
        }
        case Communication.Overlay _ -> {
          Value own = node.operand(1);
          coded.merge(node.name(), elements(own, layouts.layout(own)), Math::max);
        }
        default -> {}
      }
    }
    values.putAll(coded);
    values.keySet().retainAll(bits.keySet());
    bits.keySet().retainAll(values.keySet());
    return new Traffic(
        bytes(program, node -> true),
        bytes(program, node -> node.origin().block().isPresent()),
        sum(values),
        sum(bits));
  }

  /** Returns the bytes that the chosen exchanges send. */
  private static long bytes(Program program, Predicate<Node> isChosen) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Communication.Exchange)
        .filter(isChosen)
        .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
        .filter(Step.Send.class::isInstance)
        .mapToLong(Step::bytes)
        .sum();
  }

  /** Returns the elements of a value that all devices hold together. */
  private static long elements(Value value, Layout layout) {
    return layout.holders().stream()
        .mapToLong(device -> layout.localType(value.type(), device).shape().elements())
        .sum();
  }

  private static long sum(Map<String, Long> numbers) {
    return numbers.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the average number of bits in which a value is sent; 32 for exact f32. */
  public double bitsPerValue() {
    return (double) bits / values;
  }
}
