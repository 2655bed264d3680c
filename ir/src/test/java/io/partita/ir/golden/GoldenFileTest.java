package io.partita.ir.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenFileTest {
  @TempDir Path folder;

  @Test
  void missingSectionsFail() {
    GoldenFile golden = new GoldenFile(folder.resolve("absent.golden"), false);
    assertThatThrownBy(() -> golden.assertMatches("one", "text"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("section one: there is no such section");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void theFirstDifferingLineIsShown() throws IOException {
    Path file = folder.resolve("some.golden");
    Files.writeString(file, "=== one\nsame\nold\nrest\n\n=== two\nother\n");
    GoldenFile golden = new GoldenFile(file, false);
    golden.assertMatches("two", "other\n");
    assertThatThrownBy(() -> golden.assertMatches("one", "same\nnew\nrest\n"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("section one, line 2\n  expected: old\n  found:    new\n");
    assertThatThrownBy(() -> golden.assertMatches("one", "same\nold"))
        .hasMessageContaining("line 3\n  expected: rest\n  found:    (no more lines)");
  }

  @Test
  void anUpdateKeepsTheOtherSections() throws IOException {
    Path file = folder.resolve("deep").resolve("some.golden");
    GoldenFile golden = new GoldenFile(file, true);
    golden.assertMatches("one", "a\n\nb\n");
    golden.assertMatches("two", "c");
    golden.assertMatches("one", "d");
    assertThat(file).hasContent("=== one\nd\n\n=== two\nc\n");
    new GoldenFile(file, false).assertMatches("two", "c\n");
  }

  @Test
  void textThatWouldBeginASectionIsRefused() {
    GoldenFile golden = new GoldenFile(folder.resolve("some.golden"), true);
    assertThatThrownBy(() -> golden.assertMatches("one", "x\n=== two\n"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
