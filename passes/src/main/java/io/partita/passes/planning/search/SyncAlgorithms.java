package io.partita.passes.planning.search;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
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
 * nothing else. Ties go to trees of small groups, and of few pieces.
 */
public final class SyncAlgorithms implements ChooseAlgorithms.Choice {
  /**
   * The largest group of a tree; in wider groups the first device is a bottleneck, unless there is
   * only one group.
   */
  private static final int MAX_GROUP_WIDTH = 8;

  private static final int MAX_PIECES = 64;

  /** In bytes; what a message takes besides its bytes makes shorter ones pointless. */
  private static final long MIN_PIECE = 512;

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
   * Chooses the algorithms with the least time on the first devices of a target, as many as the
   * module has.
   *
   * @param module a module of any dialect; only one on several devices has syncs
   */
  public static Module choose(Module module, TargetDescription target) {
    if (module.placement().isEmpty()) {
      return module;
    }
    int count = module.placement().get().mesh().devices();
    TargetDescription devices = TargetChange.first(target, count);
    int buffer = Topology.of(devices).buffer();
    return new ChooseAlgorithms(
            new SyncAlgorithms(devices, buffer, PlanOptions.DEFAULT, Goal.LATENCY))
        .run(module);
  }

  /**
   * The figures of a sync with an algorithm, if all devices begin it together and do nothing else.
   *
   * @param report the report of a program of this sync alone
   */
  record Candidate(Algorithm algorithm, PlanReport report) {}

  /** A value that varies can't be priced alone, so its sync has the usual algorithm. */
  @Override
  public Algorithm of(Change change) {
    if (!change.from().varying().isEmpty()) {
      return ChooseAlgorithms.BY_DEVICE_COUNT.of(change);
    }
    return best(candidates(change)).algorithm();
  }

  private Candidate best(List<Candidate> candidates) {
    Candidate best = candidates.getFirst();
    for (Candidate candidate : candidates) {
      if (isBetter(candidate.report(), best.report())) {
        best = candidate;
      }
    }
    return best;
  }

  /** Returns the candidates, of each tree that with the best number of pieces. */
  List<Candidate> candidates(Change change) {
    int devices = target.deviceCount();
    List<Candidate> candidates = new ArrayList<>();
    for (int group = 2; group <= Math.clamp(devices, 2, MAX_GROUP_WIDTH); group++) {
      candidates.add(tree(change, group));
    }
    if (devices > MAX_GROUP_WIDTH) {
      candidates.add(tree(change, devices));
    }
    for (int group = 2; group <= Math.min(devices / 2, MAX_GROUP_WIDTH); group++) {
      Algorithm.Hierarchical groups = new Algorithm.Hierarchical(group);
      if (groups.groups(devices).getFirst() == group) {
        candidates.add(candidate(change, groups));
      }
    }
    candidates.add(candidate(change, new Algorithm.Ring()));
    candidates.add(candidate(change, new Algorithm.Direct()));
    return candidates;
  }

  /**
   * Doubles the number of pieces as long as that is better, if the target states what a message
   * costs its chips; otherwise pieces would seem to cost nothing.
   */
  private Candidate tree(Change change, int group) {
    Candidate best = candidate(change, new Algorithm.Tree(group));
    boolean isPriced = target.devices().stream().allMatch(chip -> chip.messageCycles() > 0);
    for (int pieces = 2;
        isPriced && pieces <= MAX_PIECES && change.type().bytes() / pieces >= MIN_PIECE;
        pieces *= 2) {
      Candidate more = candidate(change, new Algorithm.Tree(group, pieces));
      if (!isBetter(more.report(), best.report())) {
        break;
      }
      best = more;
    }
    return best;
  }

  Candidate candidate(Change change, Algorithm algorithm) {
    return new Candidate(algorithm, report(change, algorithm));
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
