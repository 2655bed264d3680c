package io.partita.passes.planning.cost;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The kernel times and the residency that the devices of a {@link io.partita.ir.program.Role} have
 * in common, on chips of one kind.
 */
final class RoleCosts {
  private final ChipKind chip;
  private final LocalValues values;
  private final Residency residency;

  /** The work by node; null for constants and exchanges. */
  private final List<KernelTime> times = new ArrayList<>();

  private final List<String> labels = new ArrayList<>();

  /** The cycles of loading the kernel of sums, by exchange. */
  private final Map<Integer, Double> coldSums = new HashMap<>();

  RoleCosts(
      int device,
      Module module,
      ChipKind chip,
      int channel,
      PlanOptions options,
      KernelTimes kernels) {
    this.chip = chip;
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
    List<TensorType> types = node.operands().stream().map(values::used).toList();
    List<TensorType> results = node.results().stream().map(values::used).toList();
    List<KernelTimes.Operand> operands = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      String memory = residency.memory(node.operand(i), block);
      operands.add(new KernelTimes.Operand(types.get(i), values.usedBytes(node, i), memory));
    }
    String to =
        node.results().isEmpty()
            ? residency.home()
            : residency.memory(node.results().getFirst(), block);
    double cold = warm.coldCycles(KernelWorks.of(node.op(), types, results));
    return kernels.of(chip, node.op(), operands, results, to, cold);
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
