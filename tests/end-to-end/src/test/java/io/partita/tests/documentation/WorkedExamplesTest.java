package io.partita.tests.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that {@code docs/extending.md} lists all files of the compiler that mention each example.
 */
class WorkedExamplesTest {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final List<String> MODULES =
      List.of("ir", "frontend", "passes", "backends", "tools", "runtime-c");
  private static final Set<String> LEFT_OUT = Set.of("target", "test", "resources");
  private static final Pattern FILE = Pattern.compile("(?m)^- `([^`]+)`: ");
  private static final Pattern TEST = Pattern.compile("(?m)^Its test, in `([^`]+)`");
  private static final Pattern SNIPPET = Pattern.compile("(?ms)^```(?:java|c)\\n(.*?)^```");

  @ParameterizedTest
  @CsvSource({
    "An elementwise function, \\bCOSH\\b|\\bpartita_cosh_f32\\b, 4",
    "An operation, IntegerGelu|integerGelu|integer_gelu, 9",
    "A codec, \\bBf16Codec\\b, 2",
    "A rewrite rule, \\bRaiseSilu\\b, 2"
  })
  void filesAndLinesMatchTheExample(String title, String example, int files) throws IOException {
    String section = section(title);
    List<String> listed = all(FILE, section);
    assertThat(listed).hasSize(files).containsExactlyInAnyOrderElementsOf(mentioning(example));

    List<String> snippets = all(SNIPPET, section);
    assertThat(snippets).isNotEmpty();
    List<String> shownFrom = new ArrayList<>(listed);
    shownFrom.addAll(all(TEST, section));
    assertThat(snippets)
        .allSatisfy(
            snippet ->
                assertThat(shownFrom)
                    .as(snippet)
                    .anyMatch(file -> hasInOrder(lines(read(ROOT.resolve(file))), lines(snippet))));
  }

  /** Tests the excerpts of the backend, which is a test itself. */
  @ParameterizedTest
  @CsvSource("A backend, ListingBackend.java")
  void excerptsAreThoseOfTheExample(String title, String file) {
    String section = section(title);
    List<String> snippets = all(SNIPPET, section);
    assertThat(snippets).isNotEmpty();
    Path example = Path.of("src/test/java/io/partita/tests/documentation", file);
    assertThat(section).contains("tests/end-to-end/" + example);
    assertThat(snippets)
        .allSatisfy(
            snippet ->
                assertThat(hasInOrder(lines(read(example)), lines(snippet))).as(snippet).isTrue());
  }

  /** Whether lines occur among others in order. */
  private static boolean hasInOrder(List<String> lines, List<String> shown) {
    Iterator<String> rest = shown.iterator();
    String next = rest.next();
    for (String line : lines) {
      if (line.equals(next)) {
        if (!rest.hasNext()) {
          return true;
        }
        next = rest.next();
      }
    }
    return false;
  }

  private static List<String> lines(String text) {
    return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
  }

  private static String section(String title) {
    String page = read(ROOT.resolve("docs/extending.md"));
    String heading = "\n## " + title + "\n";
    assertThat(page).containsOnlyOnce(heading);
    String rest = page.substring(page.indexOf(heading) + heading.length());
    int end = rest.indexOf("\n## ");
    return end < 0 ? rest : rest.substring(0, end);
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult match) -> match.group(1)).toList();
  }

  private static Set<String> mentioning(String example) throws IOException {
    Pattern pattern = Pattern.compile(example);
    Set<String> files = new TreeSet<>();
    for (String module : MODULES) {
      try (Stream<Path> paths = Files.walk(ROOT.resolve(module))) {
        paths
            .filter(WorkedExamplesTest::isSource)
            .filter(path -> pattern.matcher(read(path)).find())
            .forEach(path -> files.add(ROOT.relativize(path).toString()));
      }
    }
    return files;
  }

  private static boolean isSource(Path path) {
    for (Path part : ROOT.relativize(path)) {
      if (LEFT_OUT.contains(part.toString())) {
        return false;
      }
    }
    String name = path.getFileName().toString();
    return name.endsWith(".java") || name.endsWith(".c") || name.endsWith(".h");
  }

  private static String read(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
