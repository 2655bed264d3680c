package io.partita.passes.planning.cost;

import io.partita.ir.graph.Node;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Source;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import io.partita.passes.planning.residency.Residency;
import io.partita.passes.planning.residency.WeightPlace;
import io.partita.passes.timing.KernelTime;
import io.partita.passes.timing.KernelTimes;
import io.partita.passes.timing.KernelWork;
import io.partita.passes.timing.Resource;
import io.partita.passes.timing.TargetTimeline;
import io.partita.passes.timing.TransferPaths;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The progress of a device in its program, and its figures so far. */
final class DeviceRun {
  private final TargetTimeline timeline;
  private final KernelTimes kernels;
  private final PlanOptions options;
  private final int number;
  private final RoleCosts role;
  private final ChipKind chip;
  private final Residency residency;
  private final List<Node> nodes;
  private final Set<Node> skipped;
  private final SortedMap<String, Long> bytesByChannel = new TreeMap<>();
  private final Map<Integer, Integer> loads = new HashMap<>();
  private double computeSeconds;
  private int reached;
  private int node;
  private int step;
  private int block = -1;

  /** Whether elements were added in this exchange. */
  private boolean isAdding;

  /**
   * @param skipped the nodes that the device doesn't compute
   */
  DeviceRun(
      TargetTimeline timeline,
      KernelTimes kernels,
      PlanOptions options,
      int number,
      RoleCosts role,
      List<Node> nodes,
      Set<Node> skipped) {
    this.skipped = skipped;
    this.timeline = timeline;
    this.kernels = kernels;
    this.options = options;
    this.number = number;
    this.role = role;
    this.chip = role.chip();
    this.residency = role.residency();
    this.nodes = nodes;
    this.reached = timeline.join();
    if (isAhead()) {
      load(1);
    }
  }

  private boolean isAhead() {
    return residency.weightPlace() == WeightPlace.BLOCK_AHEAD;
  }

  int number() {
    return number;
  }

  /** The event that ends everything before. */
  int reached() {
    return reached;
  }

  void reached(int event) {
    reached = event;
  }

  /** Runs kernels up to the next exchange and returns it, or null at the end. */
  Node toExchange() {
    while (node < nodes.size()) {
      Node next = nodes.get(node);
      enter(residency.blocks().block(node));
      if (!skipped.contains(next)) {
        if (next.op() instanceof Exchange) {
          return next;
        }
        run(next);
      }
      node++;
    }
    return null;
  }

  /** Returns the current step of the exchange; null if all are done. */
  Step step(Exchange exchange) {
    return step < exchange.steps().size() ? exchange.steps().get(step) : null;
  }

  void nextStep() {
    step++;
  }

  void nextNode() {
    node++;
    step = 0;
    isAdding = false;
  }

  /** Waits for the weights of a block; the buffer of a block that has ended is free. */
  private void enter(int next) {
    while (isAhead() && block < next) {
      if (block >= 0) {
        load(block + 2);
      }
      block++;
      Integer load = loads.get(block);
      if (load != null && options.awaitsBlocks()) {
        reached = timeline.join(reached, load);
      }
    }
  }

  private void load(int ahead) {
    int blocks = residency.blocks().count();
    if (ahead > blocks) {
      return;
    }
    long bytes = residency.blockBytes(ahead % blocks);
    int last = reached;
    for (DmaChannel channel : TransferPaths.between(chip, residency.far(), residency.home())) {
      bytesByChannel.merge(channel.name(), bytes, Long::sum);
      if (options.awaitsBlocks()) {
        double seconds = channel.cycles(bytes, 0) / chip.hertz();
        last =
            timeline.occupy(
                number, channel.name(), "weights of block " + ahead % blocks, seconds, bytes, last);
      }
    }
    loads.put(ahead, last);
  }

  private void run(Node next) {
    if (!(next.op() instanceof Source.Constant)) {
      place(role.label(node), role.time(node));
    }
  }

  private void place(String label, KernelTime time) {
    for (Map.Entry<String, Double> wait : time.waits().entrySet()) {
      if (wait.getValue() > 0) {
        reached = timeline.occupy(number, wait.getKey(), label, wait.getValue(), 0, reached);
      }
    }
    if (time.computeSeconds() > 0) {
      reached = timeline.compute(number, label, time.computeSeconds() * chip.hertz(), reached);
      computeSeconds += time.computeSeconds();
    }
    time.bytes().forEach((channel, bytes) -> bytesByChannel.merge(channel, bytes, Long::sum));
  }

  /** Adds the transfer of own and received elements to the cores, and of their sum back. */
  void reduce(Receive receive, ElementType element) {
    long elements = Slice.elements(receive.slices());
    long bytes = element.packedBytes(elements);
    double cycles = sum(element, elements).warmCycles(chip);
    if (!isAdding) {
      cycles += role.coldCycles(node);
      isAdding = true;
    }
    String home = residency.home();
    place(receive.toString(), kernels.of(chip, cycles, Map.of(home, 2 * bytes), home, bytes));
  }

  static KernelWork sum(ElementType element, long elements) {
    return KernelWork.elements(KernelClass.ELEMENTWISE, element, elements, 1);
  }

  double computeSeconds() {
    return computeSeconds;
  }

  /** The bytes by the farther of two memories. */
  SortedMap<String, Long> bytes() {
    SortedMap<String, Long> levels = new TreeMap<>();
    for (DmaChannel channel : chip.channels()) {
      Long moved = bytesByChannel.get(channel.name());
      if (moved != null) {
        levels.merge(TransferPaths.level(chip, channel), moved, Long::sum);
      }
    }
    return levels;
  }

  /** The time by {@code compute} and the farther of two memories. */
  SortedMap<String, Double> joules() {
    SortedMap<String, Double> joules = new TreeMap<>();
    joules.put(Resource.Kind.COMPUTE.text(), computeSeconds * chip.cores() * chip.wattsPerCore());
    for (DmaChannel channel : chip.channels()) {
      Long moved = bytesByChannel.get(channel.name());
      if (moved != null) {
        joules.merge(
            TransferPaths.level(chip, channel), moved * channel.joulesPerByte(), Double::sum);
      }
    }
    return joules;
  }

  DeviceReport report() {
    return new DeviceReport(
        number,
        chip.name(),
        residency.weightPlace().text(),
        residency.weightBytes(),
        residency.memories(),
        residency.biggest(),
        computeSeconds,
        bytes(),
        joules().values().stream().mapToDouble(Double::doubleValue).sum());
  }
}
