package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.cli.DocumentedPage.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of all pages word for word, in the order of the page; those that take minutes,
 * such as those of trained models, only with {@code -Dpartita.documented=all}. {@link
 * DocumentedOptionsTest} parses these too.
 */
@Order(1)
@Tag("thorough")
@Timeout(7200)
class DocumentedPagesTest {
  /** Plans change with the figures of targets; pages are renewed where they are far off. */
  private static final double TOLERANCE = 0.1;

  /** Its plan doesn't fit, and shows what makes it fit. */
  private static final String REFUSED = "l3=1MiB";

  /** The build itself runs these, and others need what only the reader has. */
  private static final Pattern NOT_RUN =
      Pattern.compile("^mvn |mpirun --hostfile|encoder_model\\.onnx");

  private static final boolean ALL = "all".equals(System.getProperty("partita.documented"));

  /** Compiles and measures a model many times. */
  private static final Pattern SLOW = Pattern.compile("partita tune ");

  /** Trained models that aren't in the repository. */
  private static final Pattern MODEL = Pattern.compile("(shakespeare-\\w+|mnist-vit)/");

  private static DocumentedShell shell;

  @BeforeAll
  static void openShell(@TempDir Path scratch) throws IOException {
    shell = new DocumentedShell(scratch);
  }

  @AfterAll
  static void closeShell() throws IOException {
    shell.close();
  }

  private static Stream<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(Invocation.ROOT.resolve("docs"))) {
      return Stream.concat(
          Stream.of("README.md", "CONTRIBUTING.md").map(Invocation.ROOT::resolve),
          docs.filter(page -> page.toString().endsWith(".md")).sorted().toList().stream());
    }
  }

  @Test
  void readmeWorksAsWritten() throws Exception {
    assertThat(run(Invocation.ROOT.resolve("README.md"), TOLERANCE)).isGreaterThan(15);
  }

  @Test
  void otherPagesWorkAsWritten() throws Exception {
    int commands = 0;
    for (Path page : pages().toList()) {
      if (!List.of("README.md", "quantization.md", "sync-rewrites.md")
          .contains(page.getFileName().toString())) {
        commands += run(page, Double.POSITIVE_INFINITY);
      }
    }
    assertThat(commands).isGreaterThan(10);
  }

  private static boolean isRun(Command command) {
    return !NOT_RUN.matcher(command.text()).find() && (ALL || !SLOW.matcher(command.text()).find());
  }

  private int run(Path page, double tolerance) throws Exception {
    shell.clear();
    List<String> differences = new ArrayList<>();
    int count = 0;
    for (Command command : DocumentedPage.of(page).commands()) {
      var model = MODEL.matcher(command.text());
      if (command.file().isPresent()) {
        shell.write(command.file().get(), command.text());
      } else if (model.find()
          && !command.text().contains("tests/models")
          && !(ALL && shell.has(model.group(1)))) {
        if (ALL) {
          System.err.println(
              page.getFileName()
                  + ": NOT TESTED without "
                  + model.group(1)
                  + ": "
                  + command.text());
        }
      } else if (isRun(command)) {
        String where = page.getFileName() + ":" + command.line() + ": " + command.text();
        try {
          Invocation printed = shell.run(command.text(), command.text().contains(REFUSED) ? 2 : 0);
          ShownOutput.verify(where, command.shown(), printed, tolerance);
        } catch (AssertionError different) {
          differences.add(different.getMessage());
        }
        count++;
      }
    }
    assertThat(differences).isEmpty();
    return count;
  }
}
