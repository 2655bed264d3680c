package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.SyncCalibration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningFileTest {
  private static final MeasuredModel MODEL = new MeasuredModel("mesh(x=2)", "data", List.of("a"));

  @TempDir private Path folder;

  private static Evaluation.Result result(double value, double mean) {
    return new Evaluation.Result(
        "perplexity", false, value, mean, 10, "tokens", 2, Optional.empty(), 1, 1.5);
  }

  private static Optional<SyncCalibration> calibration(double largest) {
    double[][] ranges = {{largest}, {2}};
    FeatureRanges all =
        new FeatureRanges(
            ranges, ranges, new double[1], new double[1], new double[0][], new double[0][]);
    SyncCalibration.Sum sum = new SyncCalibration.Sum("sum", "a", all);
    return Optional.of(new SyncCalibration("cal.json", "mesh(x=2)", List.of(sum)));
  }

  @Test
  void measurementsAreReadAgain() {
    Optional<Path> file = Optional.of(folder.resolve("tuning.json"));
    TuningFile begun = TuningFile.begun(file, MODEL, calibration(3));
    assertThat(begun.measured()).isEmpty();
    TuningFile written =
        begun.with("", result(4.25, 1.5)).with("blocks 0: drop", result(1.0 / 3, 0.1));
    assertThat(TuningFile.begun(file, MODEL, calibration(3))).isEqualTo(written);
    assertThat(written.measured().sequencedKeySet()).containsExactly("", "blocks 0: drop");
    assertThat(written.metric()).isEqualTo("perplexity");
  }

  @Test
  void withoutAFileNothingIsWritten() throws IOException {
    TuningFile begun = TuningFile.begun(Optional.empty(), MODEL, Optional.empty());
    assertThat(begun.with("", result(4, 2)).measured()).hasSize(1);
    try (var files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void otherMeasurementsAreRefused() throws IOException {
    Path path = folder.resolve("tuning.json");
    Optional<Path> file = Optional.of(path);
    TuningFile.begun(file, MODEL, calibration(3)).with("", result(4, 2));
    MeasuredModel other = new MeasuredModel("mesh(x=2)", "other data", List.of("a"));
    assertThatThrownBy(() -> TuningFile.begun(file, other, calibration(3)))
        .hasMessageContaining("P6208")
        .hasMessageContaining("delete this one");
    assertThatThrownBy(() -> TuningFile.begun(file, MODEL, calibration(3.5)))
        .hasMessageContaining("another calibration");
    for (String text : List.of("{}", "[", "{\"format\": \"partita tuning 1\"}")) {
      Files.writeString(path, text);
      assertThatThrownBy(() -> TuningFile.begun(file, MODEL, calibration(3)))
          .hasMessageContaining("P6208")
          .hasMessageContaining("a file that partita tune wrote");
    }
  }
}
