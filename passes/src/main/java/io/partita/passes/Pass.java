package io.partita.passes;

import io.partita.ir.graph.Module;
import java.util.Set;

/** One step of compilation: takes a frozen module and gives another. */
public interface Pass {
  /** As it stands in a pipeline, such as {@code raise}. */
  String name();

  /** One line that says what it's for. */
  String purpose();

  /** Names of the properties that the module must have, which other passes establish. */
  default Set<Property> requires() {
    return Set.of();
  }

  default Set<Property> establishes() {
    return Set.of();
  }

  Module run(Module module);

  /** What one pass may rely on because another has run. */
  enum Property {
    /** Subgraphs of transformers are structured operations. */
    RAISED,
    /** No type holds a symbol. */
    STATIC,
    /** KV caches are state of fixed capacity. */
    STATEFUL
  }
}
