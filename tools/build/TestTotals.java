import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Sums the test reports below the working directory and prints one line. */
final class TestTotals {
  private static final Pattern SUITE = Pattern.compile("<testsuite\\b[^>]*>");

  void main() throws IOException {
    int tests = 0;
    int failures = 0;
    int errors = 0;
    int skipped = 0;
    try (Stream<Path> files = Files.walk(Path.of(""), 6)) {
      for (Path report : files.filter(TestTotals::isReport).toList()) {
        Matcher suite = SUITE.matcher(Files.readString(report));
        if (suite.find()) {
          tests += attribute(suite.group(), "tests");
          failures += attribute(suite.group(), "failures");
          errors += attribute(suite.group(), "errors");
          skipped += attribute(suite.group(), "skipped");
        }
      }
    }
    System.out.printf(
        "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d%n", tests, failures, errors, skipped);
  }

  private static boolean isReport(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith("TEST-")
        && name.endsWith(".xml")
        && file.getParent().getFileName().toString().startsWith("surefire-reports");
  }

  private static int attribute(String element, String name) {
    Matcher matcher = Pattern.compile("\\b" + name + "=\"(\\d+)\"").matcher(element);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
  }
}
