package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.DiagnosticCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class DiagnosticReferenceTest {
  private static final Pattern CODE_ENUM =
      Pattern.compile("enum (\\w+) implements DiagnosticCode\\b");

  @Test
  void idsAreUniqueAndOfTheKnownForm() {
    assertThat(DiagnosticReference.codes())
        .extracting(DiagnosticCode::id)
        .doesNotHaveDuplicates()
        .allMatch(id -> id.matches("P[1-6]\\d{3}"));
  }

  @Test
  void codesAndSectionsMatchInOrder() {
    assertThat(DiagnosticReference.sections().keySet())
        .containsExactlyElementsOf(
            DiagnosticReference.codes().stream().map(DiagnosticReference::heading).toList());
  }

  @Test
  void sectionsHaveText() {
    assertThat(DiagnosticReference.sections())
        .allSatisfy((_, text) -> assertThat(text).hasSizeGreaterThan(40));
  }

  @Test
  void theListHasTheCodesOfAllModules() throws IOException {
    Set<String> listed =
        DiagnosticReference.codes().stream()
            .map(code -> code.getClass().getSimpleName())
            .collect(Collectors.toSet());
    assertThat(declared()).isNotEmpty().containsExactlyInAnyOrderElementsOf(listed);
  }

  private static List<String> declared() throws IOException {
    try (Stream<Path> files = Files.walk(Invocation.ROOT)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> file.toString().contains(Path.of("src", "main").toString()))
          .flatMap(file -> CODE_ENUM.matcher(read(file)).results().map(found -> found.group(1)))
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void explainPrintsASection() {
    Invocation explain = Invocation.of("explain", "p6014");
    assertThat(explain.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(explain.out())
        .startsWith("note P6014: the capacity of the KV cache is not given")
        .contains("--dim past=1024")
        .doesNotContain("###");
  }

  @Test
  void explainListsAll() {
    Invocation list = Invocation.of("explain");
    assertThat(list.out().lines()).hasSameSizeAs(DiagnosticReference.codes());
    assertThat(list.out()).contains("P2001  error    the operator is not supported");
  }

  @Test
  void explainPrintsJson() {
    assertThat(Invocation.of("explain", "P2001", "--json").json())
        .containsOnlyKeys("code", "severity", "title", "text")
        .containsEntry("severity", "error");
    assertThat(Invocation.of("explain", "--json").out()).contains("\"code\" : \"P1001\"");
  }

  @Test
  void unknownCodesAreUserErrors() {
    Invocation unknown = Invocation.of("explain", "P9999");
    assertThat(unknown.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(unknown.err()).startsWith("there is no diagnostic P9999");
  }
}
