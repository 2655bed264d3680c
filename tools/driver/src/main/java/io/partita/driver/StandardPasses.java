package io.partita.driver;

import io.partita.passes.PassRegistry;
import io.partita.passes.Pipeline;
import io.partita.passes.simplify.SimplifyPass;
import java.util.List;

/** The passes that there are, and those that run when the user doesn't choose. */
public final class StandardPasses {
  public static final PassRegistry REGISTRY =
      new PassRegistry(List.of(PassRegistry.entry(new SimplifyPass())));

  /** What makes a model ready for a backend. */
  static final String RAISE = "simplify";

  private StandardPasses() {}

  /** Passes before a test case runs: none for the evaluator, which then checks the import alone. */
  public static Pipeline forChecking(Target target) {
    return switch (target) {
      case EVALUATOR -> new Pipeline(List.of());
      case JAVA -> Pipeline.parse(RAISE, REGISTRY);
    };
  }
}
