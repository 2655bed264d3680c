package io.partita.driver;

import io.partita.ir.graph.Module;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.mesh.shard.LastDevice;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.TokenGathers;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The distribution of a model over several devices, and how they communicate the sums of its
 * blocks.
 *
 * @param gathers what they gather where tokens are split
 * @param speculation if present, half of the devices run ahead on an approximate attention
 */
public record Sharding(
    Strategy strategy,
    TokenGathers gathers,
    SyncRewrites syncs,
    Optional<Speculation> speculation) {
  /** A distribution without speculation. */
  public Sharding(Strategy strategy, TokenGathers gathers, SyncRewrites syncs) {
    this(strategy, gathers, syncs, Optional.empty());
  }

  /** A distribution in which devices gather what the rewrites take. */
  public Sharding(Strategy strategy, SyncRewrites syncs) {
    this(strategy, syncs.rules().gathers(), syncs);
  }

  /** A distribution with exact sums. */
  public static Sharding of(Strategy strategy) {
    return new Sharding(strategy, SyncRewrites.NONE);
  }

  /**
   * Distributes a module.
   *
   * @param module a module of the graph dialect
   * @return the module in the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be distributed, or its sums can't
   *     be rewritten
   */
  public Module run(Module module) {
    return speculation.isPresent()
        ? new SpeculateGroups(speculation.get(), OptionalLong.of(strategy.devices())).run(module)
        : syncs.run(exact(module));
  }

  /** Like {@link #run}, without the rewrites and without speculation. */
  public Module exact(Module module) {
    return new ShardPass(strategy, gathers).run(module);
  }

  /** Whether tokens, and nothing else, are split over several devices. */
  public boolean splitsTokens() {
    int devices = strategy.devices(Strategy.Kind.SEQUENCE);
    return devices > 1 && devices == strategy.devices();
  }

  /** Places a decoder on the device that holds the last tokens of a prompt. */
  public Module onLastDevice(Module decoder) {
    return LastDevice.place(decoder, strategy);
  }
}
