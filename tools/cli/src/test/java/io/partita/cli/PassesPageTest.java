package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.ir.reference.GeneratedPage;
import io.partita.ir.reference.SourceComments;
import io.partita.ir.stage.Stage;
import io.partita.passes.PassRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Writes docs/passes.md from the registry of passes and the comments of rewrite rules. */
class PassesPageTest {
  private static final Path RULES =
      Invocation.ROOT.resolve("passes/src/main/java/io/partita/passes");

  private final StringBuilder text = new StringBuilder();

  @Test
  void thePageIsUpToDate() throws IOException {
    text.append(
        """
        # Passes

        This page lists the passes of pipelines (`opt`, and `--passes` of other commands) and the rules by which they rewrite graphs. It is generated from the code: a test compares it, and
        `mvn -q -pl :partita-cli -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=PassesPageTest -Dgolden.update=true test` writes it again.
        [Architecture](architecture.md) explains how passes work together, and [operations](operations.md) lists what they rewrite.

        | pass | stage | effect |
        | --- | --- | --- |
        """);
    StandardPasses.REGISTRY.entries().forEach(this::pass);
    text.append(
        """

        ## Rewrite rules

        A rule replaces nodes that match its pattern. `simplify`, `raise` and the legalization within `schedule` apply their rules until none matches. Rules are listed by the package they are in.

        """);
    int rules = 0;
    for (Map.Entry<String, Map<String, String>> group : rules().entrySet()) {
      text.append("### ").append(group.getKey()).append("\n\n| rule | effect |\n| --- | --- |\n");
      group.getValue().forEach((name, comment) -> row(name, comment));
      text.append('\n');
      rules += group.getValue().size();
    }
    assertThat(rules).isGreaterThan(60);
    GeneratedPage.assertMatches(
        Invocation.ROOT.resolve("docs/passes.md"), text.toString().stripTrailing() + "\n");
  }

  private void pass(PassRegistry.Entry entry) {
    String stages = label(entry.takes());
    if (!entry.takes().equals(entry.gives())) {
      stages += " to " + label(entry.gives());
    }
    String usage = entry.usage().replace("|", "\\|");
    text.append("| `%s` | %s | %s |\n".formatted(usage, stages, entry.purpose()));
  }

  private static String label(Stage<?> stage) {
    return stage.label();
  }

  private void row(String name, String comment) {
    assertThat(comment).as("the comment of " + name).isNotEmpty();
    text.append("| `").append(name).append("` | ").append(comment).append(" |\n");
  }

  /** The comments of rules by package and name. */
  private static TreeMap<String, Map<String, String>> rules() throws IOException {
    TreeMap<String, Map<String, String>> rules = new TreeMap<>();
    List<Path> files;
    try (Stream<Path> all = Files.walk(RULES)) {
      files = all.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
    for (Path file : files) {
      if (Files.readString(file).contains("implements RewriteRule {")) {
        String name = file.getFileName().toString().replace(".java", "");
        String group = RULES.relativize(file.getParent()).toString();
        rules
            .computeIfAbsent(group, _ -> new TreeMap<>())
            .put(name, SourceComments.ofTypes(file).get(name));
      }
    }
    return rules;
  }
}
