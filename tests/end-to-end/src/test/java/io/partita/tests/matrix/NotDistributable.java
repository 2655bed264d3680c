package io.partita.tests.matrix;

import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import java.util.Optional;

/** The runs that must be refused, and their diagnostics. */
final class NotDistributable {
  private static final String NOTHING_TO_SPLIT = "P4202";

  private NotDistributable() {}

  /** Returns the expected diagnostic, if any; a run on one device is never refused. */
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
