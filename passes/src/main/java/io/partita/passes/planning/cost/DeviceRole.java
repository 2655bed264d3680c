package io.partita.passes.planning.cost;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Source;
import io.partita.ir.target.ChipKind;
import io.partita.ir.type.TensorType;
import io.partita.passes.planning.residency.Residency;
import io.partita.passes.program.values.LocalValues;
import io.partita.passes.timing.KernelTime;
import io.partita.passes.timing.KernelTimes;
import io.partita.passes.timing.KernelWorks;
import io.partita.passes.timing.WarmKernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The common part of devices of one kind that run the same program, apart from the values of
 * weights and their peers.
 */
final class DeviceRole {
  private final ChipKind chip;
  private final Module module;
  private final LocalValues values;
  private final Residency residency;

  /** The work by node; null for constants and exchanges. */
  private final List<KernelTime> times = new ArrayList<>();

  private final List<String> labels = new ArrayList<>();

  /** The cycles of loading the kernel of sums, by exchange. */
  private final Map<Integer, Double> coldSums = new HashMap<>();

  DeviceRole(
      int device,
      Module module,
      ChipKind chip,
      int channel,
      PlanOptions options,
      KernelTimes kernels) {
    this.chip = chip;
    this.module = module;
    this.values = new LocalValues(module, options.assumptions());
    this.residency = Residency.of(device, values, chip, channel);
    WarmKernels warm = new WarmKernels(chip);
    List<Node> nodes = nodes();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      boolean runs = !(node.op() instanceof Source.Constant || node.op() instanceof Exchange);
      times.add(runs ? time(node, residency.blocks().block(i), warm, kernels) : null);
      labels.add(runs ? node.toString() : "");
      if (node.op() instanceof Exchange exchange && adds(exchange)) {
        coldSums.put(i, warm.coldCycles(List.of(DeviceRun.sum(exchange.element(), 1))));
      }
    }
  }

  private static boolean adds(Exchange exchange) {
    return exchange.steps().stream()
        .anyMatch(
            step -> step instanceof Step.Receive receive && receive.combine() != Combine.REPLACE);
  }

  private KernelTime time(Node node, int block, WarmKernels warm, KernelTimes kernels) {
    List<TensorType> operands = node.operands().stream().map(values::used).toList();
    List<TensorType> results = node.results().stream().map(values::used).toList();
    List<String> memories = new ArrayList<>();
    for (Value operand : node.operands()) {
      memories.add(residency.memory(operand, block));
    }
    String to =
        node.results().isEmpty()
            ? residency.home()
            : residency.memory(node.results().getFirst(), block);
    double cold = warm.coldCycles(KernelWorks.of(node.op(), operands, results));
    return kernels.of(chip, node.op(), operands, results, memories, to, cold);
  }

  /** Whether a device with this program also has this role. */
  boolean includes(Module other, ChipKind kind) {
    return chip.name().equals(kind.name())
        && module.states().equals(other.states())
        && isSame(module.graph(), other.graph());
  }

  private static boolean isSame(Graph left, Graph right) {
    if (left.nodes().size() != right.nodes().size()
        || left.inputs().size() != right.inputs().size()
        || left.outputs().size() != right.outputs().size()) {
      return false;
    }
    Map<Value, Value> same = new IdentityHashMap<>();
    for (int i = 0; i < left.inputs().size(); i++) {
      if (!isSame(left.inputs().get(i), right.inputs().get(i), same)
          || !left.inputs().get(i).name().equals(right.inputs().get(i).name())) {
        return false;
      }
    }
    for (int i = 0; i < left.nodes().size(); i++) {
      if (!isSame(left.nodes().get(i), right.nodes().get(i), same)) {
        return false;
      }
    }
    for (int i = 0; i < left.outputs().size(); i++) {
      if (same.get(left.outputs().get(i).value()) != right.outputs().get(i).value()) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSame(Value left, Value right, Map<Value, Value> same) {
    same.put(left, right);
    return left.type().equals(right.type());
  }

  private static boolean isSame(Node left, Node right, Map<Value, Value> same) {
    if (left.operands().size() != right.operands().size()
        || left.results().size() != right.results().size()) {
      return false;
    }
    for (int i = 0; i < left.operands().size(); i++) {
      if (same.get(left.operand(i)) != right.operand(i)) {
        return false;
      }
    }
    for (int i = 0; i < left.results().size(); i++) {
      if (!isSame(left.results().get(i), right.results().get(i), same)) {
        return false;
      }
    }
    return switch (left.op()) {
      case Source.Constant constant -> right.op() instanceof Source.Constant;
      case Exchange exchange ->
          right.op() instanceof Exchange other
              && exchange.before().equals(exchange.after()) == other.before().equals(other.after())
              && messages(exchange).equals(messages(other));
      case io.partita.ir.op.Op op -> op.equals(right.op());
    };
  }

  /** The messages to and from the first, the second … peer. */
  private static List<Long> messages(Exchange exchange) {
    Map<Integer, Integer> peers = new HashMap<>();
    List<Long> messages = new ArrayList<>();
    for (Step step : exchange.steps()) {
      messages.add((long) peers.computeIfAbsent(step.peer(), peer -> peers.size()));
      messages.add(step instanceof Step.Send ? step.bytes() : -step.bytes());
    }
    return messages;
  }

  List<Node> nodes() {
    return values.graph().nodes();
  }

  ChipKind chip() {
    return chip;
  }

  Residency residency() {
    return residency;
  }

  /** Returns the work of a node that isn't a constant or an exchange. */
  KernelTime time(int node) {
    return Objects.requireNonNull(times.get(node));
  }

  /** Returns the cycles of loading the kernel of the first sum of an exchange. */
  double coldCycles(int exchange) {
    return coldSums.getOrDefault(exchange, 0.0);
  }

  String label(int node) {
    return labels.get(node);
  }
}
