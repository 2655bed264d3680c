package io.partita.tests.matrix;

import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import java.util.Optional;

/** What can't be distributed in some way, and the diagnostic that says so. */
final class NotDistributable {
  private static final String NOTHING_TO_SPLIT = "P4202";

  private NotDistributable() {}

  /** The diagnostic that must come, if one must. One device is never asked for too much. */
  static Optional<String> code(Subject.Loaded loaded, Strategy strategy) {
    int stages = strategy.devices(Kind.PIPELINE);
    boolean tooFewBlocks = stages > 1 && loaded.queries().size() < stages;
    int tokens = strategy.devices(Kind.SEQUENCE);
    boolean tooFewTokens =
        tokens > 1
            && tokens == strategy.devices()
            && loaded.queries().stream().allMatch(queries -> queries <= 1);
    return tooFewBlocks || tooFewTokens ? Optional.of(NOTHING_TO_SPLIT) : Optional.empty();
  }
}
