package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** All recorded cases below a folder. */
record Suite(Path folder) {
  /**
   * Runs every case, and requires that exactly the listed ones fail: a listed case that passes must
   * be removed from the list.
   *
   * @param exceptions the reason why a case fails, by the path of its folder below the suite's
   */
  void check(Route route, Map<String, String> exceptions) {
    CaseRunner runner = route.cases(Tolerance.DEFAULT);
    List<TestCase> cases = TestCase.find(folder);
    Map<String, String> others = new TreeMap<>();
    for (TestCase test : cases) {
      CaseResult result = runner.run(test);
      if (result.status() != CaseResult.Status.PASS) {
        String name = folder.relativize(Path.of(test.name())).toString();
        others.put(name, result.status() + " " + result.detail());
      }
    }
    exceptions.keySet().forEach(name -> assertThat(others).as("cases that fail").containsKey(name));
    others.keySet().removeAll(exceptions.keySet());
    assertThat(others.entrySet().stream().map(Objects::toString))
        .as("of %d cases of %s through %s", cases.size(), folder.getFileName(), route)
        .isEmpty();
  }
}
