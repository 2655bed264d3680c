package io.partita.driver.cases;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;

/** Runs modules in the reference evaluator. */
public final class EvaluatorRunner implements ModuleRunner {
  @Override
  public Prepared prepare(Module module) {
    return inputs -> Evaluator.run(module.graph(), inputs);
  }
}
