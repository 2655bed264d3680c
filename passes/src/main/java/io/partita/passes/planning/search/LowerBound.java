package io.partita.passes.planning.search;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Source;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import io.partita.passes.program.values.Assumptions;
import io.partita.passes.program.values.LocalValues;
import io.partita.passes.timing.KernelCost;
import io.partita.passes.timing.KernelCosts;
import io.partita.passes.timing.KernelWork;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Lower bounds of all plans of a strategy, from counts of the whole model alone: its work at full
 * speed on all devices in parallel, its weights over the fastest channel, and an empty message for
 * each sync that is required. They cost almost nothing, and avoid making plans that cannot win.
 */
final class LowerBound {
  private final ModelFacts facts;
  private final List<ChipKind> chips;
  private final double linkSeconds;

  /** The work of attentions and their projections, which are split by heads. */
  private final double headSeconds;

  /** All other work. */
  private final double otherSeconds;

  private final double computeJoules;

  /** The bytes of all weights, and those that a run reads. */
  private final long storedBytes;

  private final long readBytes;

  /** The bounds of one strategy. */
  record Bound(double seconds, double joules, long weightBytesPerDevice) {}

  /**
   * @param weights how the constant matrices of products are stored
   */
  LowerBound(
      Graph graph,
      ModelAnatomy anatomy,
      ModelFacts facts,
      TargetDescription target,
      Packing weights) {
    LocalValues values = new LocalValues(new Module(graph), Assumptions.NONE.with(weights));
    this.facts = facts;
    this.chips = target.chips();
    this.linkSeconds = least(target.links(), link -> link.startupSeconds() + link.latencySeconds());
    Set<Node> byHeads = byHeads(anatomy);
    double heads = 0;
    double others = 0;
    double joules = 0;
    long stored = 0;
    long read = 0;
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Source.Constant) {
        stored += values.bytes(node.result());
        continue;
      }
      KernelCost cost = KernelCosts.of(node, i -> values.storedBytes(node, i));
      read += cost.weightBytes();
      for (KernelWork work : cost.work()) {
        double seconds = least(chips, chip -> work.fewestCycles(chip) / chip.hertz());
        heads += byHeads.contains(node) ? seconds : 0;
        others += byHeads.contains(node) ? 0 : seconds;
        joules +=
            least(
                chips,
                chip ->
                    work.fewestCycles(chip) / chip.hertz() * chip.cores() * chip.wattsPerCore());
      }
    }
    this.headSeconds = heads;
    this.otherSeconds = others;
    this.computeJoules = joules;
    this.storedBytes = stored;
    this.readBytes = read;
  }

  private static Set<Node> byHeads(ModelAnatomy anatomy) {
    Set<Node> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Block block : anatomy.blocks()) {
      Block.AttentionPart part = block.attention();
      nodes.add(part.node());
      Stream.of(part.query(), part.key(), part.value(), part.output())
          .flatMap(Optional::stream)
          .forEach(projection -> nodes.add(projection.node()));
    }
    return nodes;
  }

  private static <T> double least(List<T> of, ToDoubleFunction<T> figure) {
    return of.stream().mapToDouble(figure).min().orElse(0);
  }

  Bound of(Strategy strategy) {
    int tokens = strategy.devices(Kind.SEQUENCE);
    int weightParts = strategy.devices() / tokens;
    int workParts = strategy.devices() / strategy.devices(Kind.PIPELINE);
    long stored = storedBytes / weightParts;
    double compute =
        otherSeconds / workParts
            + headSeconds / (tokens * headParts(strategy))
            + syncs(strategy) * linkSeconds;
    int stages = strategy.devices(Kind.PIPELINE);
    double near = least(chips, chip -> nearSeconds(chip, readBytes / weightParts, stages));
    double far = least(chips, chip -> farSeconds(chip, readBytes / weightParts, stages));
    double joules =
        computeJoules
            + tokens * weightParts * least(chips, chip -> farJoules(chip, readBytes / weightParts))
            + tokens * least(chips, chip -> nearJoules(chip, readBytes));
    return new Bound(Math.max(compute, Math.max(near, far)), joules, stored);
  }

  /**
   * Returns the share of the busiest device: devices without a head wait for the others, and those
   * that share a head do not.
   */
  private double headParts(Strategy strategy) {
    int tensor = strategy.devices(Kind.TENSOR);
    return strategy.inside() > 1 || facts.heads() == 0 ? tensor : Math.min(tensor, facts.heads());
  }

  private long syncs(Strategy strategy) {
    long syncs = strategy.devices(Kind.PIPELINE) - 1;
    if (strategy.devices(Kind.TENSOR) > 1) {
      syncs += facts.blocks();
    }
    if (strategy.devices(Kind.SEQUENCE) > 1) {
      syncs += facts.blocks();
    }
    return syncs;
  }

  private static Optional<DmaChannel> near(ChipKind chip) {
    return chip.channel(chip.resident().name(), chip.working().name());
  }

  /**
   * Returns the time of fetching weights in stages that run one after the other: before its turn, a
   * stage can fetch no more than its working memory holds.
   *
   * @param bytes the bytes of weights that each device reads
   */
  private static double nearSeconds(ChipKind chip, long bytes, int stages) {
    long most = Math.max(bytes, stages * Math.max(0, bytes - chip.working().bytes()));
    return near(chip).map(each -> most / each.bytesPerCycle() / chip.hertz()).orElse(0.0);
  }

  private static double nearJoules(ChipKind chip, long bytes) {
    return near(chip).map(each -> bytes * each.joulesPerByte()).orElse(0.0);
  }

  /**
   * Returns the time of fetching weights that exceed the on-chip memory, which each stage fetches
   * in each run during its turn.
   *
   * @param bytes the bytes of weights that each device reads
   */
  private static double farSeconds(ChipKind chip, long bytes, int stages) {
    return far(chip)
        .map(each -> stages * beyond(chip, bytes) / each.bytesPerCycle() / chip.hertz())
        .orElse(0.0);
  }

  private static double farJoules(ChipKind chip, long bytes) {
    return far(chip).map(each -> beyond(chip, bytes) * each.joulesPerByte()).orElse(0.0);
  }

  private static long beyond(ChipKind chip, long bytes) {
    return Math.max(0, bytes - chip.resident().bytes());
  }

  private static Optional<DmaChannel> far(ChipKind chip) {
    return chip.memories().stream()
        .filter(memory -> memory.scope() == Memory.Scope.OFF_CHIP)
        .flatMap(memory -> chip.channel(memory.name(), chip.resident().name()).stream())
        .findFirst();
  }
}
