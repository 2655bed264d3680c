package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeasurementFileTest {
  @TempDir Path folder;

  private static Map<String, Object> read(Path file) {
    return MeasurementFile.read(
        file,
        "partita ranking 2",
        found -> MetricCode.RANKING_FILE.at(file.toString(), "a ranking", found, "write one"));
  }

  private static void assertRefused(Path file, String found) {
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("found:     " + found);
  }

  @Test
  void theObjectOfTheFormat() throws IOException {
    Path file =
        Files.writeString(folder.resolve("f"), "{\"format\": \"partita ranking 2\", \"tau1\": 3}");
    assertThat(read(file)).containsEntry("tau1", 3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | JSON of another kind",
        "{\"format\": \"partita ranking 1\"} | \"partita ranking 1\", not \"partita ranking 2\"",
        "[] | no JSON object",
        "null | no JSON object",
        "block | no JSON object"
      })
  void otherFiles(String text, String found) throws IOException {
    assertRefused(Files.writeString(folder.resolve("file"), text), found);
  }

  @Test
  void filesThatCantBeRead() {
    assertRefused(folder.resolve("none"), "no such file");
    assertRefused(folder, "Is a directory");
  }
}
