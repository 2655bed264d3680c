package io.partita.passes.planning.search;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.residency.Shortage;

/** The outcome of a strategy in a search. */
public sealed interface Attempt {
  Strategy strategy();

  /** A plan that fits the devices. */
  record Fits(Strategy strategy, double seconds, double joules, int devices, long peakBytes)
      implements Attempt {
    static Fits of(CandidatePlan plan) {
      return new Fits(
          plan.strategy(), plan.seconds(), plan.joules(), plan.devices(), plan.peakBytes());
    }

    /** Whether this plan dominates another one: it is no worse in any figure and better in one. */
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

  /** A plan that doesn't fit the devices. */
  record DoesNotFit(Strategy strategy, Shortage worst) implements Attempt {}

  /**
   * No plan was made, because the weights alone exceed all memories of a device.
   *
   * @param needed the least bytes of weights on a device
   * @param available the bytes of the memories of a device
   */
  record TooLarge(Strategy strategy, long needed, long available) implements Attempt {}

  /**
   * No plan was made, because it cannot be as good as an existing one.
   *
   * @param bound the lower bound in seconds or joules, by the goal of the search
   */
  record Bounded(Strategy strategy, double bound) implements Attempt {}

  /** The strategy does not apply to the model. */
  record NotApplicable(Strategy strategy, String reason) implements Attempt {}

  /** The model, the target or the strategy forbids the plan. */
  record Fails(Strategy strategy, Diagnostic diagnostic) implements Attempt {}
}
