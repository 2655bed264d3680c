package io.partita.passes.planning.search;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.residency.Shortage;

/** What became of one strategy in a search. */
public sealed interface Attempt {
  Strategy strategy();

  /** A plan was made, and the devices have room for it. */
  record Fits(Strategy strategy, double seconds, double joules, int devices, long peakBytes)
      implements Attempt {
    static Fits of(CandidatePlan plan) {
      return new Fits(
          plan.strategy(), plan.seconds(), plan.joules(), plan.devices(), plan.peakBytes());
    }

    /** Whether this is no worse in anything than another, and better in something. */
    boolean dominates(Fits other) {
      boolean noWorse =
          seconds <= other.seconds
              && joules <= other.joules
              && devices <= other.devices
              && peakBytes <= other.peakBytes;
      return noWorse
          && (seconds < other.seconds
              || joules < other.joules
              || devices < other.devices
              || peakBytes < other.peakBytes);
    }
  }

  /** A plan was made that doesn't fit. */
  record DoesNotFit(Strategy strategy, Shortage worst) implements Attempt {}

  /**
   * Its weights alone are larger than all memories of a device, so no plan was made.
   *
   * @param needed bytes of weights on a device, at the least
   * @param available bytes of a device's memories
   */
  record TooLarge(Strategy strategy, long needed, long available) implements Attempt {}

  /**
   * It can't be as good as a plan that was there already, so no plan was made.
   *
   * @param bound seconds or joules, by what the search is for, that it can't be below
   */
  record Bounded(Strategy strategy, double bound) implements Attempt {}

  /** The strategy makes no sense for the model. */
  record NotApplicable(Strategy strategy, String reason) implements Attempt {}

  /** Something about the model, the target or the strategy forbids it. */
  record Fails(Strategy strategy, Diagnostic diagnostic) implements Attempt {}
}
