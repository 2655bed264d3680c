package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;

/** A module that also gives what a rewrite asks for, as its last outputs. */
public interface Statistics {
  Module module();

  /** How many outputs the module has more. */
  int outputs();
}
