package io.partita.api;

import io.partita.ir.diagnostic.Diagnostic;

/** What a compilation tells while it runs, on the thread that called it. */
public interface CompilationListener {
  /** Ignores everything. */
  CompilationListener NONE = new CompilationListener() {};

  /** Something that the user should know although it stops nothing, such as a chosen extent. */
  default void note(Diagnostic note) {}

  /** What is being done now, in a few words. */
  default void step(String description) {}
}
