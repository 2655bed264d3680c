package io.partita.passes.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.passes.graph.raise.RaisePass;
import io.partita.passes.graph.raise.activation.ActivationRuleTest;
import io.partita.passes.graph.raise.attention.AttentionRuleTest;
import io.partita.passes.graph.raise.embedding.EmbeddingRuleTest;
import io.partita.passes.graph.raise.integer.IntegerRuleTest;
import io.partita.passes.graph.raise.integer.TabulateFunctionsTest;
import io.partita.passes.graph.raise.integer.TabulateIntegersTest;
import io.partita.passes.graph.raise.linear.FfnRuleTest;
import io.partita.passes.graph.raise.linear.LinearRuleTest;
import io.partita.passes.graph.raise.movement.MovementRuleTest;
import io.partita.passes.graph.raise.norm.NormRuleTest;
import io.partita.passes.graph.raise.rotary.RotaryRuleTest;
import io.partita.passes.graph.simplify.SimplifyPass;
import io.partita.passes.graph.simplify.SimplifyRuleTest;
import io.partita.passes.schedule.legalize.EarlyRuleTest;
import io.partita.passes.schedule.legalize.Legalization;
import io.partita.passes.schedule.legalize.LinesRuleTest;
import io.partita.passes.schedule.legalize.NarrowRuleTest;
import io.partita.passes.schedule.legalize.RowsRuleTest;
import io.partita.passes.schedule.legalize.SplitRuleTest;
import io.partita.passes.schedule.legalize.StoredTypeRuleTest;
import io.partita.passes.schedule.legalize.WidenRuleTest;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that each rule of a pass has a case in which it fires and one in which it doesn't. */
class EveryRuleHasCasesTest {
  private static final List<RuleTest> TESTS =
      List.of(
          new SimplifyRuleTest(),
          new ActivationRuleTest(),
          new AttentionRuleTest(),
          new EmbeddingRuleTest(),
          new FfnRuleTest(),
          new IntegerRuleTest(),
          new TabulateFunctionsTest(),
          new TabulateIntegersTest(),
          new LinearRuleTest(),
          new MovementRuleTest(),
          new NormRuleTest(),
          new RotaryRuleTest(),
          new SplitRuleTest(),
          new RowsRuleTest(),
          new StoredTypeRuleTest(),
          new EarlyRuleTest(),
          new NarrowRuleTest(),
          new WidenRuleTest(),
          new LinesRuleTest());

  private static Set<String> applied() {
    return Stream.of(SimplifyPass.RULES, RaisePass.rules(), Legalization.rules(Long.MAX_VALUE))
        .flatMap(List::stream)
        .map(RewriteRule::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> tested(boolean fires) {
    return TESTS.stream()
        .flatMap(test -> test.cases().stream())
        .filter(each -> each.fires() == fires)
        .map(each -> each.rule().name())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void itFires() {
    assertThat(tested(true)).isEqualTo(applied());
  }

  @Test
  void itDoesNotFire() {
    assertThat(tested(false)).isEqualTo(applied());
  }
}
