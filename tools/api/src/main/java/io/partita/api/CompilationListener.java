package io.partita.api;

import io.partita.ir.diagnostic.Diagnostic;

/** Receives messages of a running compilation, on the calling thread. */
public interface CompilationListener {
  /** Ignores everything. */
  CompilationListener NONE = new CompilationListener() {};

  /** Receives a note for the user, such as a chosen extent. */
  default void note(Diagnostic note) {}

  /** Receives the current step, in a few words. */
  default void step(String description) {}
}
