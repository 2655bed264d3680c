package io.partita.passes.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.verify.Verifier;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The effect of one rule on one graph.
 *
 * @param expected the resulting nodes; null if it doesn't fire
 */
public record RuleCase(
    RewriteRule rule, String title, Module module, String expected, Numbers numbers) {
  public boolean fires() {
    return expected != null;
  }

  public String name() {
    String what = rule.name() + (fires() ? " fires" : " doesn't fire");
    return title.isEmpty() ? what : what + ": " + title;
  }

  /** Applies only this rule until it no longer fires, and checks the result. */
  public void check() {
    Verifier.verify(module);
    GraphEditor graph = new GraphEditor(module.graph());
    int fired = new Rewriter(List.of(rule)).rewrite(graph).getOrDefault(rule.name(), 0);
    graph.dropDead();
    Module after = module.with(graph.freeze());
    Verifier.verify(after);
    if (fires()) {
      assertThat(fired).as("times that %s fired", rule.name()).isPositive();
      assertThat(nodes(after)).isEqualTo(expected);
      numbers.requireAgreement(module.graph(), after.graph());
    } else {
      assertThat(fired).as("times that %s fired, giving\n%s", rule.name(), nodes(after)).isZero();
      assertThat(after).isEqualTo(module);
    }
  }

  /** Returns the nodes, and the outputs unless they are only the last node. */
  static String nodes(Module module) {
    List<String> lines = PirPrinter.print(module).lines().map(String::strip).toList();
    int first = 0;
    while (!lines.get(first).matches("(graph .*|\\).*)\\{")) {
      first++;
    }
    int last = lines.size() - 1;
    while (!lines.get(last).startsWith("return")) {
      last--;
    }
    String result = lines.get(last).substring("return ".length());
    boolean isLast = lines.get(last - 1).startsWith(result + " = ");
    return lines.subList(first + 1, isLast ? last : last + 1).stream()
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }
}
