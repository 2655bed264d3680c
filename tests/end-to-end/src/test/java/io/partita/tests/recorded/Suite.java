package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** All recorded cases below a folder. */
record Suite(Path folder) {
  /** Runs all cases, which must pass. */
  void check(Route route) {
    check(route, number -> true);
  }

  /**
   * Runs some of the cases, which must pass.
   *
   * @param chosen by the place among all cases
   */
  void check(Route route, IntPredicate chosen) {
    check(folder.getFileName() + " through " + route, route.cases(Tolerance.DEFAULT), chosen);
  }

  /** As {@link #check(Route, IntPredicate)}. */
  void check(String what, CaseRunner runner, IntPredicate chosen) {
    List<TestCase> cases = TestCase.find(folder);
    List<CaseResult> results =
        IntStream.range(0, cases.size())
            .filter(chosen)
            .mapToObj(number -> runner.run(cases.get(number)))
            .toList();
    assertThat(results).as(what).isNotEmpty();
    assertThat(
            results.stream()
                .filter(result -> result.status() != CaseResult.Status.PASS)
                .map(CaseResult::line))
        .as("of %d cases of %s", results.size(), what)
        .isEmpty();
  }
}
