package io.partita.passes;

import io.partita.ir.graph.Module;
import io.partita.ir.stage.Stage;

/**
 * A pass from modules to modules: of the graph dialect, of the mesh dialect, or from one to the
 * other.
 */
public interface ModulePass extends Pass<Module, Module> {
  @Override
  default Stage<Module> takes() {
    return Stage.MODULE;
  }

  @Override
  default Stage<Module> gives() {
    return Stage.MODULE;
  }
}
