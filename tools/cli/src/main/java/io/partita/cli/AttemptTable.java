package io.partita.cli;

import io.partita.driver.plan.PlanResult;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.search.Attempt;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.Goal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The alternatives that were tried, and why they weren't chosen. */
final class AttemptTable {
  private static final int MAX = 10;
  private static final String ROW = "  %-40s %9s  %9s  %s";

  private final List<Attempt> attempts;
  private final CandidatePlan best;
  private final Goal goal;

  AttemptTable(PlanResult result) {
    this.attempts = result.search().attempts();
    this.best = result.search().best();
    this.goal = result.request().goal();
  }

  List<String> lines() {
    long planned =
        attempts.stream()
            .filter(each -> each instanceof Attempt.Fits || each instanceof Attempt.DoesNotFit)
            .count();
    List<String> lines = new ArrayList<>();
    lines.add(
        "tried      %d strategies, %d of them planned; least %s wins"
            .formatted(attempts.size(), planned, goal.text()));
    List<Attempt> others =
        attempts.stream()
            .filter(each -> !each.strategy().equals(best.strategy()))
            .sorted(Comparator.comparingInt(AttemptTable::rank).thenComparingDouble(this::figure))
            .toList();
    for (Attempt attempt : others.subList(0, Math.min(MAX, others.size()))) {
      lines.add(line(attempt));
    }
    if (others.size() > MAX) {
      lines.add("  and " + (others.size() - MAX) + " more: see --json");
    }
    return lines;
  }

  private static int rank(Attempt attempt) {
    return switch (attempt) {
      case Attempt.Fits fits -> 0;
      case Attempt.DoesNotFit large -> 1;
      case Attempt.TooLarge large -> 2;
      case Attempt.Fails fails -> 3;
      case Attempt.NotApplicable other -> 4;
      case Attempt.Bounded bounded -> 5;
    };
  }

  private double figure(Attempt attempt) {
    return switch (attempt) {
      case Attempt.Fits fits ->
          switch (goal) {
            case LATENCY -> fits.seconds();
            case ENERGY -> fits.joules();
          };
      case Attempt.Bounded(Strategy strategy, double bound) -> bound;
      case Attempt.DoesNotFit large -> 0;
      case Attempt.TooLarge large -> 0;
      case Attempt.Fails fails -> 0;
      case Attempt.NotApplicable other -> 0;
    };
  }

  private String line(Attempt attempt) {
    String strategy = attempt.strategy().toString();
    return switch (attempt) {
      case Attempt.Fits fits ->
          ROW.formatted(
              strategy,
              Figures.seconds(fits.seconds()),
              Figures.joules(fits.joules()),
              best.fits() ? PlanPage.comparison(fits, best, goal) : "");
      case Attempt.DoesNotFit large -> line(strategy, attempt);
      case Attempt.TooLarge large -> line(strategy, attempt);
      case Attempt.Fails fails -> line(strategy, attempt);
      case Attempt.NotApplicable other -> line(strategy, attempt);
      case Attempt.Bounded bounded -> line(strategy, attempt);
    };
  }

  private String line(String strategy, Attempt attempt) {
    return "  %-40s %s".formatted(strategy, reason(attempt));
  }

  /** The reason why an attempt without figures wasn't chosen. */
  String reason(Attempt attempt) {
    return switch (attempt) {
      case Attempt.Fits fits -> PlanPage.comparison(fits, best, goal);
      case Attempt.DoesNotFit(Strategy strategy, Shortage worst) ->
          "doesn't fit: device %d needs %s of %s in %s"
              .formatted(
                  worst.device(),
                  Figures.bytes(worst.needed()),
                  Figures.bytes(worst.available()),
                  worst.memory());
      case Attempt.TooLarge(Strategy strategy, long needed, long available) ->
          "doesn't fit: weights of %s a device, memories of %s"
              .formatted(Figures.bytes(needed), Figures.bytes(available));
      case Attempt.Fails(Strategy strategy, Diagnostic diagnostic) ->
          diagnostic.code().id() + ": " + diagnostic.found();
      case Attempt.NotApplicable(Strategy strategy, String reason) -> "not applicable: " + reason;
      case Attempt.Bounded(Strategy strategy, double bound) ->
          "can't be better: takes at least "
              + switch (goal) {
                case LATENCY -> Figures.seconds(bound);
                case ENERGY -> Figures.joules(bound);
              };
    };
  }
}
