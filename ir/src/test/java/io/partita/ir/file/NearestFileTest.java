package io.partita.ir.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NearestFileTest {
  @TempDir Path folder;

  @BeforeEach
  void writeAModel() throws IOException {
    Files.createDirectories(folder.resolve("decode"));
    Files.createFile(folder.resolve("decode/network.onnx"));
  }

  @Test
  void aMisspeltFileIsFound() {
    assertThat(NearestFile.remedy(folder.resolve("decode/netwrok.onnx")))
        .isEqualTo("did you mean '" + folder + "/decode/network.onnx'?");
  }

  @Test
  void aFileInAMisspeltFolderIsFound() {
    assertThat(NearestFile.of(folder.resolve("decod/network.onnx")))
        .contains(folder.resolve("decode/network.onnx"));
  }

  @Test
  void relativePathsStayRelative() {
    assertThat(NearestFile.of(Path.of("scr"))).contains(Path.of("src"));
  }

  @Test
  void whatIsNotThereIsNotSuggested() {
    assertThat(NearestFile.remedy(folder.resolve("decod/other.onnx"))).isEqualTo("check the path");
    assertThat(NearestFile.of(folder.resolve("encode/none/network.onnx"))).isEmpty();
    assertThat(NearestFile.of(folder.resolve("decode/network.onnx/x"))).isEmpty();
    assertThat(NearestFile.of(folder.resolve("decode"))).isEmpty();
    assertThat(NearestFile.of(Path.of("/"))).isEmpty();
  }
}
