package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;

/** A module with additional outputs, after its own, for the statistics of a rewrite. */
public interface Statistics {
  Module module();

  /** Returns the number of additional outputs. */
  int outputs();
}
