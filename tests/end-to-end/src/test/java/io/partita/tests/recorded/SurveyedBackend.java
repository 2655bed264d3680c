package io.partita.tests.recorded;

import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.passes.mesh.shard.Strategy;
import java.util.Map;
import java.util.Optional;

/** A backend with a number of devices; each is a column of docs/models.md. */
enum SurveyedBackend {
  EVALUATOR("evaluator", Target.EVALUATOR, 1),
  JAVA("Java", Target.JAVA, 1),
  JAVA_ON_2("Java, 2 devices", Target.JAVA, 2),
  JAVA_ON_3("Java, 3 devices", Target.JAVA, 3),
  C("C", Target.SIRACUSA, 1),
  C_ON_2("C, 2 chips", Target.SIRACUSA, 2);

  private final String title;
  private final Target target;
  private final int devices;

  SurveyedBackend(String title, Target target, int devices) {
    this.title = title;
    this.target = target;
    this.devices = devices;
  }

  String title() {
    return title;
  }

  CaseRunner cases(Tolerance tolerance) {
    return new CaseRunner(runner(), StandardPasses.forChecking(target), tolerance);
  }

  private ModuleRunner runner() {
    Optional<Strategy> strategy = Distribution.strategy(devices, null);
    return target == Target.SIRACUSA
        ? EmittedC.unoptimised(ChipTarget.of("siracusa", Map.of()), strategy)
        : target.runner(strategy.map(Sharding::of));
  }
}
