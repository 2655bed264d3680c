package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SyncCalibration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CalibrationFileTest {
  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void write() {
    file = folder.resolve("cal.json");
    double[][] least = {{-1, -2}, {-3, -4}};
    double[][] largest = {{5, 6}, {7, 8}};
    double[][] none = {{}, {}};
    FeatureRanges shape = new FeatureRanges(least, largest, none[0], none[0], none, none);
    double[][] partial = new double[shape.partialSums()][2];
    FeatureRanges ranges =
        new FeatureRanges(least, largest, new double[2], new double[2], partial, partial);
    Codebook book =
        new Codebook(
            "tokens",
            "feedbeef",
            4,
            2,
            3,
            new float[12],
            new Residual(0.5, 1, 2, new float[4], new float[16]));
    new CalibrationFile(
            new SyncCalibration(
                file.toString(),
                "mesh(head=2)",
                List.of(new SyncCalibration.Sum("sum", "cafe", ranges)),
                List.of(book)),
            "abc",
            5,
            5,
            1)
        .write(file);
  }

  @Test
  void readsWhatItWrote() throws IOException {
    CalibrationFile read = CalibrationFile.read(file);
    String text = Files.readString(file);
    read.write(file);
    assertThat(Files.readString(file)).isEqualTo(text);
  }

  @Test
  void unfinishedCodebooksAreRefused() throws IOException {
    Files.writeString(file, Files.readString(file).replace("\"books\":1", "\"books\":2"));
    assertThatThrownBy(() -> CalibrationFile.read(file))
        .hasMessageContaining("P6204")
        .hasMessageContaining("2 codebooks")
        .hasMessageContaining("resumes it");
    assertThat(CalibrationFile.readAny(file).calibration().codebooks()).hasSize(1);
  }

  private void refused(String text) throws IOException {
    Files.writeString(file, text);
    assertThatThrownBy(() -> CalibrationFile.read(file))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P6204")
        .hasMessageContaining("a file that partita calibrate wrote");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "null", "12", "{}", "\0\1", "{\"format\": 3}"})
  void otherFilesAreRefused(String text) throws IOException {
    refused(text);
  }

  @Test
  void truncatedAndDeepFilesAreRefused() throws IOException {
    String text = Files.readString(file);
    for (int length = 0; length < text.length(); length += 7) {
      refused(text.substring(0, length));
    }
    refused("[".repeat(100_000));
  }

  /** Tests values of other types, huge numbers, negative counts and missing or misnamed fields. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"sums\":[ | \"sums\":null,\"x\":[",
        "\"sums\":[ | \"sums\":[3,",
        "\"mesh\":\"mesh(head=2)\" | \"mesh\":4",
        "\"mesh\" | \"mash\"",
        "\"data\" | \"date\"",
        "\"sequences\":5 | \"sequences\":-5",
        "\"sequences\":5 | \"sequences\":\"5\"",
        "\"wanted\":5 | \"wanted\":0",
        "\"wanted\":5 | \"wanted\":5000000000",
        "\"wanted\":5 | \"wanted\":1e400",
        "\"name\":\"sum\" | \"nam\":\"sum\"",
        "\"weights\":\"cafe\" | \"weights\":17",
        "\"weights\":\"cafe\" | \"weight\":\"cafe\"",
        "\"minimum\" | \"minimums\"",
        "\"minimum\":[[-1.0,-2.0] | \"minimum\":[[-1.0]",
        "\"minimum\":[[-1.0,-2.0] | \"minimum\":[[-1.0,\"x\"]",
        "\"minimum\":[[-1.0,-2.0], | \"minimum\":[",
        "\"size\":3 | \"size\":-3",
        "\"size\":3 | \"size\":1000000000000",
        "\"groups\":2 | \"groups\":0",
        "\"groups\":2 | \"groups\":3",
        "\"groups\":2 | \"groups\":8",
        "\"features\":4 | \"features\":-4",
        "\"features\":4 | \"features\":0",
        "\"centroids\":\"AA | \"centroids\":\"!!",
        "\"centroids\":\"AAAAAAAA | \"centroids\":\"AADAfwAA",
        "\"distance\":1.0 | \"distance\":\"near\"",
        "\"residualMean\" | \"mean\"",
        "\"codebooks\":[ | \"codebooks\":[[],",
        "\"books\":1 | \"books\":-1",
      })
  void otherShapesAreRefused(String part, String other) throws IOException {
    String text = Files.readString(file);
    assertThat(text).contains(part);
    refused(text.replace(part, other));
  }
}
