package io.partita.tests.prompt;

import io.partita.backend.java.EmittedJava;
import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.golden.GoldenFile;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The code emitted for a decoder that takes one token or a chunk; {@code -Dgolden.update=true}
 * regenerates it.
 */
class ChunkedDecoderGoldenTest {
  private static final Entries ENTRIES = SmallChunkedDecoder.entries();

  @Test
  void java() throws IOException {
    EmittedJava program =
        JavaBackend.emit(ENTRIES.step(), ENTRIES.chunk(), new JavaOptions("golden", "Decoder"));
    GoldenFile.of("prompt/chunked-java.golden")
        .assertMatches("Decoder.java", program.files().getFirst().text());
  }

  @Test
  void c() throws IOException {
    ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of());
    Entries.Programs programs = Distribution.programs(ENTRIES);
    EmittedFile role =
        target.backend().emit(programs.step(), programs.chunk()).files().stream()
            .filter(file -> file.path().equals("role_0.c"))
            .findFirst()
            .orElseThrow();
    GoldenFile.of("prompt/chunked-c.golden").assertMatches(role.path(), role.text());
  }
}
