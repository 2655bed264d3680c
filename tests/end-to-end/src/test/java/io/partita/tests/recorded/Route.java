package io.partita.tests.recorded;

import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.graph.Module;
import io.partita.passes.Pipeline;

/** A route from an imported model to results; each recorded case takes all routes. */
enum Route {
  /** Only the import, in the reference evaluator. */
  EVALUATOR(Target.EVALUATOR, Target.EVALUATOR),
  /** The result of the passes, in the reference evaluator. */
  RAISED(Target.JAVA, Target.EVALUATOR),
  /** Emitted Java, compiled and run. */
  JAVA(Target.JAVA, Target.JAVA);

  private final Target passes;
  private final Target runs;

  Route(Target passes, Target runs) {
    this.passes = passes;
    this.runs = runs;
  }

  CaseRunner cases(Tolerance tolerance) {
    return new CaseRunner(runs.runner(), pipeline(), tolerance);
  }

  /** Prepares the module, which may then run repeatedly. */
  ModuleRunner.Prepared prepare(Module imported) {
    return runs.runner().prepare(pipeline().run(imported, (pass, before, after) -> {}));
  }

  private Pipeline pipeline() {
    return StandardPasses.forChecking(passes);
  }
}
