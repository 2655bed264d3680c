package io.partita.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenFolderTest {
  @TempDir Path scratch;
  private Path emitted;
  private Path committed;
  private GoldenFolder goldens;

  @BeforeEach
  void writeFolders() throws IOException {
    emitted = scratch.resolve("emitted");
    committed = scratch.resolve("committed");
    goldens = GoldenFolder.of(committed).updating(false);
    write(emitted, "a/Model.java", "class Model {\n  int x = 1;\n}\n");
    write(emitted, "Model.weights", "\0\1\2");
    write(emitted, "checksums.txt", "1234");
    write(committed, "a/Model.java", "class Model {\n  int x = 1;\n}\n");
  }

  private static void write(Path folder, String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @Test
  void equalTextMatchesRegardlessOfWeights() {
    assertThat(goldens.difference(emitted)).isEmpty();
    goldens.assertMatches(emitted);
  }

  @Test
  void changedLineIsShownAsUnifiedDiff() throws IOException {
    write(emitted, "a/Model.java", "class Model {\n  int x = 2;\n}\n");
    assertThatThrownBy(() -> goldens.assertMatches(emitted))
        .isInstanceOf(AssertionError.class)
        .hasMessage(
            """
            1 file differs from the goldens in %s; -Dgolden.update=true accepts what was emitted
            --- golden/a/Model.java
            +++ emitted/a/Model.java
            @@ -1,3 +1,3 @@
             class Model {
            -  int x = 1;
            +  int x = 2;
             }
            """
                .formatted(committed));
  }

  @Test
  void filesOnOneSideDiffer() throws IOException {
    write(emitted, "Extra.java", "class Extra {}\n");
    write(committed, "Gone.java", "class Gone {}\n");
    assertThat(goldens.difference(emitted))
        .startsWith("2 files differ")
        .contains("--- /dev/null\n+++ emitted/Extra.java")
        .contains("--- golden/Gone.java\n+++ /dev/null");
  }

  @Test
  void lineEndingsDiffer() throws IOException {
    write(emitted, "a/Model.java", "class Model {\r\n  int x = 1;\r\n}\r\n");
    assertThat(goldens.difference(emitted)).contains("a/Model.java: other line ends");
  }

  @Test
  void emptyGoldensDontMatch() {
    assertThat(goldens.including(List.of("**.c")).difference(emitted))
        .startsWith("no file to compare in ");
  }

  @Test
  void updateRewritesOnlyDifferences() throws IOException {
    write(emitted, "chip.c", "int x;\n");
    write(committed, "Gone.java", "class Gone {}\n");
    write(committed, "notes.md", "by hand\n");
    GoldenFolder some = goldens.including(List.of("**.java", "*.c"));
    assertThat(some.update(emitted)).containsExactly("chip.c", "Gone.java");
    assertThat(some.difference(emitted)).isEmpty();
    assertThat(committed.resolve("notes.md")).exists();
    assertThat(committed.resolve("Model.weights")).doesNotExist();
    assertThat(some.update(emitted)).isEmpty();
  }

  @Test
  void parametersAreResolved(
      @Goldens(value = "src/test/golden", includes = "**.txt") GoldenFolder given) {
    assertThat(given.difference(emitted)).startsWith("no file to compare");
  }
}
