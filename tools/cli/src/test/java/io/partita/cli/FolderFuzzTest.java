package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.fuzz.Fuzzer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests damaged folders of compiled programs, as {@code FuzzTest} does files. */
class FolderFuzzTest {
  private static final double SECONDS = 2;

  @TempDir Path scratch;

  @Test
  void damagedFoldersAreNoticedOrRead() throws IOException {
    DamagedFolders folders = new DamagedFolders(scratch);
    Fuzzer fuzzer = new Fuzzer("folder", Path.of("target", "fuzz"));
    fuzzer.run(SECONDS, 1, folders, folders);
    assertThat(fuzzer.findings()).isEmpty();
    assertThat(fuzzer.trials()).isPositive();
  }
}
