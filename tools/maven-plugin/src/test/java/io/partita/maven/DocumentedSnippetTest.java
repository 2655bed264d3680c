package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the snippets of the documentation are in built projects. */
class DocumentedSnippetTest {
  private static final Path ROOT = Path.of("../..");
  private static final Path PROJECT = Path.of("src/it/java-decoder");

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/maven.md"})
  void pluginIsConfiguredAsDocumented(String page) throws IOException {
    assertThat(words(Files.readString(PROJECT.resolve("pom.xml"))))
        .contains(words(block(page, "xml")));
  }

  @ParameterizedTest
  @ValueSource(strings = "docs/maven.md")
  void goldensAreTestedAsDocumented(String page) throws IOException {
    Path test = PROJECT.resolve("src/test/java/com/example/DecoderTest.java");
    String documented = words(block(page, "java"));
    assertThat(words(Files.readString(test)).replace("PROGRAM", PROGRAM)).contains(documented);
  }

  private static final String PROGRAM = "Path.of(\"target/generated-sources/partita/decoder\")";

  /** Returns the first block of a language on a page. */
  private static String block(String page, String language) throws IOException {
    Pattern pattern = Pattern.compile("(?s)```" + language + "\n(<plugin>|@Test)(.*?)```");
    Matcher block = pattern.matcher(Files.readString(ROOT.resolve(page)));
    assertThat(block.find()).isTrue();
    return block.group(1) + block.group(2);
  }

  private static String words(String text) {
    return text.lines().map(String::strip).collect(Collectors.joining(" ")).strip();
  }
}
