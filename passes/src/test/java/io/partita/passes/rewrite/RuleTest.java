package io.partita.passes.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases of a group of rules, one test each. {@link EveryRuleHasCasesTest} lists all groups. */
public interface RuleTest {
  List<RuleCase> cases();

  @TestFactory
  default Stream<DynamicTest> rewrites() {
    assertThat(cases()).isNotEmpty();
    return cases().stream().map(each -> DynamicTest.dynamicTest(each.name(), each::check));
  }
}
