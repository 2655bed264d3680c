package io.partita.api;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;

/** Receives messages of a running compilation, on the calling thread. */
public interface CompilationListener extends ProgressListener {
  /** Ignores everything. */
  CompilationListener NONE = new CompilationListener() {};

  /** Receives a note for the user, such as a chosen extent. */
  default void note(Diagnostic note) {}

  @Override
  default void step(String description) {}
}
