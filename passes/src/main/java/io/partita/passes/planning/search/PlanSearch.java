package io.partita.passes.planning.search;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.shard.Strategy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Searches for the best plan in two steps. First, all splits over the devices are sorted by their
 * {@link LowerBound}, and plans are made in this order until no other one can be better. Then the
 * options of the best plan are varied, one at a time, as long as it improves.
 *
 * <p>Deterministic: ties go to the plan with the fewest devices, then to the first one.
 */
public final class PlanSearch {
  /**
   * The relative difference up to which figures count as equal, larger than rounding errors of
   * sums.
   */
  private static final double ROUNDING = 1e-9;

  /** The number of strategies that are tried to find one that fits. */
  private static final int MAX_FITS = 4;

  /** The usual time to overlap messages and computing in the best plan, in plans. */
  private static final double OVERLAP = 2;

  private final ModelFacts facts;
  private final LowerBound bounds;
  private final TargetDescription target;
  private final StrategyChoice choice;
  private final Goal goal;
  private final Planner planner;
  private final ProgressListener progress;
  private final List<Attempt> attempts = new ArrayList<>();
  private final Set<Strategy> tried = new HashSet<>();

  /** The candidates that have not been considered. */
  private List<Candidate> rest = List.of();

  /** The best plan that fits, or else the one with the least shortage. */
  private Optional<CandidatePlan> best = Optional.empty();

  /**
   * @param graph a raised graph of static shapes, not yet distributed
   * @param target the target with all its devices
   * @param weights how the constant matrices of products are stored
   * @param progress receives the current step
   */
  public PlanSearch(
      Graph graph,
      TargetDescription target,
      Packing weights,
      StrategyChoice choice,
      Goal goal,
      Planner planner,
      ProgressListener progress) {
    ModelAnatomy anatomy = ModelAnatomy.of(graph);
    this.facts = ModelFacts.of(graph, anatomy);
    this.bounds = new LowerBound(graph, anatomy, facts, target, weights);
    this.target = target;
    this.choice = choice;
    this.goal = goal;
    this.planner = planner;
    this.progress = progress;
  }

  /** What decides in how many parts the model may be cut. */
  public ModelFacts facts() {
    return facts;
  }

  private record Candidate(Strategy strategy, LowerBound.Bound bound) {}

  /**
   * Returns the numbers of devices that {@code --devices auto} tries: all up to 8, then in growing
   * steps.
   */
  public static List<Integer> deviceCounts(int most) {
    Set<Integer> counts = new TreeSet<>();
    for (int count = 1; count <= most; count += Math.max(1, Integer.highestOneBit(count) / 4)) {
      boolean isTried = count <= 8 || Integer.bitCount(count) <= 2;
      if (isTried) {
        counts.add(count);
      }
    }
    counts.add(most);
    return List.copyOf(counts);
  }

  /**
   * @param devices the numbers of devices to try
   * @throws PartitaException if no strategy can be used: with the common reason of all strategies,
   *     or else with {@link PlanCode#NO_STRATEGY}
   */
  public SearchResult run(List<Integer> devices) {
    List<Candidate> candidates = candidates(devices);
    for (int i = 0; i < candidates.size(); i++) {
      Candidate candidate = candidates.get(i);
      rest = candidates.subList(i + 1, candidates.size());
      String place = " (" + (i + 1) + " of " + candidates.size() + ")";
      consider(candidate, place);
    }
    improve();
    CandidatePlan found = best.orElseThrow(() -> nothing(devices));
    if (found.fits() && found.devices() > 1) {
      progress.step("overlapping messages and computing in " + found.strategy());
      progress.share((tried.size() + 1) / (tried.size() + 1 + OVERLAP));
      found = planner.overlapped(found);
    }
    return new SearchResult(found, attempts);
  }

  /**
   * Returns the first plan that fits, in the order of bytes of weights. Few are tried: if these
   * don't fit, the others rarely do.
   */
  public Optional<CandidatePlan> firstFit(List<Integer> devices) {
    List<Candidate> candidates = new ArrayList<>(candidates(devices));
    candidates.sort(
        Comparator.comparingLong(candidate -> candidate.bound().weightBytesPerDevice()));
    candidates.removeIf(candidate -> candidate.bound().weightBytesPerDevice() > room());
    for (Candidate candidate : candidates.subList(0, Math.min(MAX_FITS, candidates.size()))) {
      attempt(candidate.strategy(), "");
      if (best.isPresent() && best.get().fits()) {
        return best;
      }
    }
    if (best.isPresent()) {
      for (Strategy variant : choice.variants(best.get().strategy(), facts)) {
        attempt(variant, "");
      }
    }
    return best.filter(CandidatePlan::fits);
  }

  private List<Candidate> candidates(List<Integer> devices) {
    List<Candidate> candidates = new ArrayList<>();
    for (int count : devices) {
      for (Strategy strategy : strategies(count)) {
        Optional<String> reason = facts.objection(strategy);
        if (reason.isPresent()) {
          attempts.add(new Attempt.NotApplicable(strategy, reason.get()));
        } else {
          candidates.add(new Candidate(strategy, bounds.of(strategy)));
        }
      }
    }
    candidates.sort(Comparator.comparingDouble(candidate -> figure(candidate.bound())));
    return candidates;
  }

  /**
   * Returns the splits: also with several devices per head if devices outnumber heads, and with
   * parts in proportion to capacities if devices differ.
   */
  private List<Strategy> strategies(int devices) {
    List<Strategy> strategies = new ArrayList<>();
    List<Long> sizes =
        target.devices().subList(0, devices).stream().map(PlanSearch::mebibytes).toList();
    for (Strategy strategy : choice.compositions(devices)) {
      choice.inside(strategy, facts).ifPresent(strategies::add);
      strategies.add(strategy);
      boolean isPlain = strategy.capacities().isEmpty() && strategy.inside() == 1;
      if (isPlain
          && strategy.devices(Strategy.Kind.TENSOR) == devices
          && new HashSet<>(sizes).size() > 1) {
        strategies.add(strategy.withCapacities(sizes));
      }
    }
    return strategies;
  }

  private static long mebibytes(ChipKind chip) {
    return bytes(chip) >> 20;
  }

  private static long bytes(ChipKind chip) {
    return chip.memories().stream().mapToLong(Memory::bytes).sum();
  }

  private double figure(LowerBound.Bound bound) {
    return goal.of(bound.seconds(), bound.joules());
  }

  private double figure(CandidatePlan plan) {
    return goal.of(plan.seconds(), plan.joules());
  }

  private void consider(Candidate candidate, String place) {
    Strategy strategy = candidate.strategy();
    long room = room();
    long weights = candidate.bound().weightBytesPerDevice();
    if (isBounded(candidate)) {
      attempts.add(new Attempt.Bounded(strategy, figure(candidate.bound())));
    } else if (best.isPresent() && weights > room) {
      attempts.add(new Attempt.TooLarge(strategy, weights, room));
    } else {
      attempt(strategy, place);
    }
  }

  /** Whether no plan of a candidate can be better than the best one so far. */
  private boolean isBounded(Candidate candidate) {
    return best.isPresent() && best.get().fits() && figure(candidate.bound()) >= figure(best.get());
  }

  /** Returns the bytes of all memories of the largest chip. */
  private long room() {
    return target.chips().stream().mapToLong(PlanSearch::bytes).max().orElse(0);
  }

  /** Records a plan, and returns whether it is the best one now. */
  private boolean attempt(Strategy strategy, String place) {
    if (!tried.add(strategy)) {
      return false;
    }
    progress.step("planning " + strategy + place);
    progress.share(share());
    CandidatePlan plan;
    try {
      plan = planner.plan(strategy);
    } catch (PartitaException e) {
      attempts.add(new Attempt.Fails(strategy, e.diagnostics().getFirst()));
      return false;
    }
    if (!plan.isSplit()) {
      attempts.add(new Attempt.NotApplicable(strategy, "it splits nothing"));
      return false;
    }
    attempts.add(
        plan.fits() ? Attempt.Fits.of(plan) : new Attempt.DoesNotFit(strategy, plan.worst()));
    boolean better = best.isEmpty() || isBetter(plan, best.get());
    best = better ? Optional.of(plan) : best;
    return better;
  }

  /**
   * Returns the share of plans that are made, if the best one so far stays the best. The first
   * counts as two, since later ones have many equal loops, whose tiles are known.
   */
  private double share() {
    int made = tried.size() == 1 ? 0 : tried.size();
    long worth = rest.stream().filter(candidate -> !isBounded(candidate)).count();
    long variants =
        best.stream()
            .flatMap(plan -> choice.variants(plan.strategy(), facts).stream())
            .filter(variant -> !tried.contains(variant))
            .count();
    return made / (made + 1 + worth + variants + OVERLAP);
  }

  private boolean isBetter(CandidatePlan plan, CandidatePlan than) {
    if (plan.fits() && than.fits()) {
      boolean isEqual = Math.abs(figure(plan) - figure(than)) <= ROUNDING * figure(than);
      return isEqual ? plan.devices() < than.devices() : figure(plan) < figure(than);
    }
    return plan.fits() != than.fits() ? plan.fits() : plan.shortBytes() < than.shortBytes();
  }

  private void improve() {
    boolean better = best.isPresent();
    while (better) {
      better = false;
      for (Strategy variant : choice.variants(best.orElseThrow().strategy(), facts)) {
        better |= attempt(variant, "");
      }
    }
  }

  private PartitaException nothing(List<Integer> devices) {
    List<Diagnostic> diagnostics = new ArrayList<>();
    Set<String> reasons = new LinkedHashSet<>();
    for (Attempt attempt : attempts) {
      switch (attempt) {
        case Attempt.Fails(Strategy strategy, Diagnostic diagnostic) -> diagnostics.add(diagnostic);
        case Attempt.NotApplicable(Strategy strategy, String reason) ->
            reasons.add(strategy + ": " + reason);
        case Attempt.Fits fits -> {}
        case Attempt.DoesNotFit large -> {}
        case Attempt.TooLarge large -> {}
        case Attempt.Bounded bounded -> {}
      }
    }
    if (!diagnostics.isEmpty()) {
      return new PartitaException(diagnostics.stream().distinct().toList());
    }
    List<String> numbers = devices.stream().map(String::valueOf).toList();
    return new PartitaException(
        PlanCode.NO_STRATEGY,
        "strategies on " + String.join(", ", numbers) + " devices",
        "a strategy that splits the model",
        reasons.isEmpty() ? "none for so many devices" : String.join("; ", reasons),
        choice.fixed().isPresent()
            ? "add --devices " + choice.fixed().get().devices()
            : "choose another number with --devices, or --devices auto");
  }
}
