package io.partita.passes.plan;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Codec;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.type.TensorType;
import io.partita.passes.cost.PlanOptions;
import io.partita.passes.cost.PlanReport;
import io.partita.passes.cost.Plans;
import io.partita.passes.localize.Localization;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chooses by which algorithm each sync of a module goes: the one with which it takes least when all
 * devices do it at once and nothing else. Of equally good ones trees of small groups come first.
 */
final class SyncAlgorithms {
  /** Wider groups make the first of a group a bottleneck, unless one group has all. */
  private static final int WIDEST_GROUP = 8;

  /** Sums of the same in another order differ by less. */
  private static final double ROUNDING = 1e-9;

  private final TargetDescription target;
  private final int capacity;
  private final PlanOptions options;
  private final Goal goal;
  private final Map<Change, Algorithm> chosen = new HashMap<>();

  private record Change(Layout from, Layout to, TensorType type, Codec codec) {}

  /**
   * @param target with as many devices as modules have
   * @param capacity messages that a channel holds
   */
  SyncAlgorithms(TargetDescription target, int capacity, PlanOptions options, Goal goal) {
    this.target = target;
    this.capacity = capacity;
    this.options = options;
    this.goal = goal;
  }

  /** The module with an algorithm at each sync that communicates and has none. */
  Module choose(Module module) {
    LayoutInference layouts = LayoutInference.of(module);
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync && sync.algorithm().isEmpty()) {
        Layout from = layouts.layout(node.operand(0));
        if (new Resharding(from, sync.to()).communicates()) {
          Change change = new Change(from, sync.to(), node.operand(0).type(), sync.codec());
          Algorithm algorithm = chosen.computeIfAbsent(change, this::best);
          graph.before(node).named(node.name());
          graph.replace(node.result(), graph.add(sync.with(algorithm), graph.operand(node, 0)));
        }
      }
    }
    return module.with(graph.freeze());
  }

  private Algorithm best(Change change) {
    Algorithm best = null;
    PlanReport least = null;
    for (Algorithm algorithm : algorithms()) {
      PlanReport report = report(change, algorithm);
      if (least == null || isBetter(report, least)) {
        best = algorithm;
        least = report;
      }
    }
    return best;
  }

  /** What takes as much of what counts is better when it takes less of the other. */
  private boolean isBetter(PlanReport report, PlanReport than) {
    double figure = goal.of(report.seconds(), report.totalJoules());
    double other = goal.of(than.seconds(), than.totalJoules());
    if (Math.abs(figure - other) > ROUNDING * other) {
      return figure < other;
    }
    return goal.of(report.totalJoules(), report.seconds())
        < (1 - ROUNDING) * goal.of(than.totalJoules(), than.seconds());
  }

  private List<Algorithm> algorithms() {
    int devices = target.deviceCount();
    List<Algorithm> algorithms = new ArrayList<>();
    for (int group = 2; group <= Math.clamp(devices, 2, WIDEST_GROUP); group++) {
      algorithms.add(new Algorithm.Tree(group));
    }
    if (devices > WIDEST_GROUP) {
      algorithms.add(new Algorithm.Tree(devices));
    }
    algorithms.add(new Algorithm.Ring());
    algorithms.add(new Algorithm.Direct());
    return algorithms;
  }

  /** Of a program of this sync alone. */
  private PlanReport report(Change change, Algorithm algorithm) {
    GraphBuilder builder = new GraphBuilder("sync");
    builder.output(
        "after",
        builder.add(
            new Communication.Sync(change.to(), java.util.Optional.of(algorithm), change.codec()),
            builder.input("before", change.type())));
    Graph graph = builder.finish();
    Placement placement = new Placement(change.from().mesh(), Map.of("before", change.from()));
    Module module = new Module(graph, List.of(), java.util.Optional.of(placement));
    return Plans.report(Localization.of(module, capacity), target, options);
  }
}
