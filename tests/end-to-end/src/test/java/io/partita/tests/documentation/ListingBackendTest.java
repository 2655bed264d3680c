package io.partita.tests.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.driver.StagedFile;
import io.partita.driver.StandardPasses;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.Checksums;
import io.partita.ir.program.Program;
import io.partita.ir.stage.Stage;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the worked example of a backend in docs/extending.md. */
class ListingBackendTest {
  @TempDir Path scratch;

  private Program program() throws IOException {
    String weights = "0.5, ".repeat(63) + "0.5";
    Path module =
        Files.writeString(
            scratch.resolve("network.pir"),
            """
            pir 1
            module {
              graph @network(%%x: f32[2,8]) -> ("y": f32[2,8]) {
                %%a = constant [%s] : f32[8,8]
                %%b = constant [%s] : f32[8,8]
                %%h = linear(%%x, %%a) : f32[2,8] "/up"
                %%t = tanh(%%h) : f32[2,8] "/tanh"
                %%y = linear(%%t, %%b) : f32[2,8] "/down"
                return %%y
              }
            }
            """
                .formatted(weights, weights));
    Pipeline pipeline =
        Pipeline.parse(
            "simplify,raise,shard(tensor=2),choose-algorithms,localize", StandardPasses.REGISTRY);
    return pipeline
        .run(
            StagedFile.read(module, Map.of(), Map.of(), pipeline, note -> {}, step -> {}),
            (pass, before, after) -> StandardPasses.verifyStructure(pass, after))
        .at(Stage.PROGRAM)
        .orElseThrow();
  }

  @Test
  void listsWhatEachDeviceComputesAndSends() throws IOException {
    ListingBackend backend = new ListingBackend();
    Path folder = scratch.resolve("out");
    backend.write(backend.emit(program()), folder);
    for (int device = 0; device < 2; device++) {
      assertThat(folder.resolve("device" + device + ".txt"))
          .hasContent(
              """
              constant -> f32[8,4]
              linear -> f32[2,4]
              tanh -> f32[2,4]
              constant -> f32[4,8]
              linear -> f32[2,8]
              reshape -> f32[16]
              send 32 B to P, receive 32 B from P, send 32 B to P, receive 32 B from P
              reshape -> f32[2,8]
              """
                  .replace("P", "" + (1 - device)));
    }
    assertThat(ListingBackend.read(folder).summary()).isEqualTo("listings of 2 devices");
    assertThat(Checksums.changed(folder, path -> true)).isEmpty();
  }

  @Test
  void replacesOnlyItsOwnFolders() throws IOException {
    ListingBackend backend = new ListingBackend();
    Path folder = scratch.resolve("out");
    backend.write(backend.emit(program()), folder);
    backend.write(backend.emit(program()), folder);
    Path mine = Files.createDirectories(scratch.resolve("mine"));
    Files.writeString(mine.resolve("notes.txt"), "kept");
    assertThatThrownBy(() -> backend.write(backend.emit(program()), mine))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P5003");
    assertThatThrownBy(() -> ListingBackend.read(mine)).hasMessageContaining("P5999");
  }
}
