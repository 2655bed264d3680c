package io.partita.passes.planning.search;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.mesh.sync.ChooseAlgorithms.Change;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses the algorithm with which a sync takes the least, if all devices begin it together and do
 * nothing else. Ties go to trees of small groups.
 */
final class SyncAlgorithms implements ChooseAlgorithms.Choice {
  /**
   * The largest group of a tree; in wider groups the first device is a bottleneck, unless there is
   * only one group.
   */
  private static final int MAX_GROUP_WIDTH = 8;

  /**
   * The relative difference up to which figures count as equal, larger than rounding errors of
   * sums.
   */
  private static final double ROUNDING = 1e-9;

  private final TargetDescription target;
  private final int capacity;
  private final PlanOptions options;
  private final Goal goal;

  /**
   * @param target the target, with as many devices as modules have
   * @param capacity the number of messages that a channel holds
   */
  SyncAlgorithms(TargetDescription target, int capacity, PlanOptions options, Goal goal) {
    this.target = target;
    this.capacity = capacity;
    this.options = options;
    this.goal = goal;
  }

  /**
   * The figures of a sync with an algorithm, if all devices begin it together and do nothing else.
   *
   * @param report the report of a program of this sync alone
   */
  record Candidate(Algorithm algorithm, PlanReport report) {}

  @Override
  public Algorithm of(Change change) {
    Candidate best = null;
    for (Candidate candidate : candidates(change)) {
      if (best == null || isBetter(candidate.report(), best.report())) {
        best = candidate;
      }
    }
    return best.algorithm();
  }

  List<Candidate> candidates(Change change) {
    return algorithms().stream()
        .map(algorithm -> new Candidate(algorithm, report(change, algorithm)))
        .toList();
  }

  /** Breaks ties in the goal by the other figure. */
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
    for (int group = 2; group <= Math.clamp(devices, 2, MAX_GROUP_WIDTH); group++) {
      algorithms.add(new Algorithm.Tree(group));
    }
    if (devices > MAX_GROUP_WIDTH) {
      algorithms.add(new Algorithm.Tree(devices));
    }
    algorithms.add(new Algorithm.Ring());
    algorithms.add(new Algorithm.Direct());
    return algorithms;
  }

  /** Returns the report of a program of this sync alone. */
  private PlanReport report(Change change, Algorithm algorithm) {
    GraphBuilder builder = new GraphBuilder("sync");
    builder.output(
        "after",
        builder.add(change.sync().with(algorithm), builder.input("before", change.type())));
    Graph graph = builder.finish();
    Placement placement = new Placement(change.from().mesh(), Map.of("before", change.from()));
    Module module = new Module(graph, List.of(), Optional.of(placement));
    return Plans.report(Localization.of(module, capacity), target, options);
  }
}
