package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the commands of docs/quantization.md print the text that is shown. */
@Tag("thorough")
@Timeout(600)
class DocumentedQuantizationTest {
  @TempDir Path folder;

  @Test
  void commandsPrintTheShownText() throws IOException {
    assertThat(new DocumentedCommands(folder).verify("quantization.md")).isEqualTo(9);
  }
}
