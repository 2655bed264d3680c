package io.partita.passes.program.localize;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.stage.Stage;
import io.partita.passes.Pass;

/**
 * Makes a program for each device of a module; a module of the graph dialect becomes a program for
 * one device.
 */
public final class Localize implements Pass<Module, Program> {
  /** The number of messages that each channel between two devices of an emitted program holds. */
  public static final int CAPACITY = 1;

  @Override
  public String name() {
    return "localize";
  }

  @Override
  public String purpose() {
    return "make the program of each device, with its computations and messages";
  }

  @Override
  public Stage<Module> takes() {
    return Stage.MODULE;
  }

  @Override
  public Stage<Program> gives() {
    return Stage.PROGRAM;
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException as {@link Localization#of(Module, int)}
   */
  @Override
  public Program run(Module module) {
    return Localization.of(module, CAPACITY);
  }
}
