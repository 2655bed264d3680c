package io.partita.benchmarks.speculation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Compares the latency model of attention-level speculation with the paper's figures. The tables in
 * {@code docs/measurements.md} and the picture beside it are those of the model; {@code
 * -Dgolden.update=true} updates them.
 */
class LatencyModelTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "measurements.md");
  private static final Path PICTURE = PAGE.resolveSibling("speculation-scaling.svg");
  private static final String BEGIN = "<!-- computed by LatencyModelTest: %s -->\n";
  private static final String END = "\n<!-- end -->";

  private static final ScalingModel MODEL = ScalingModel.fitted();

  @Test
  void projectionsOfTheGpusAreWithinHalfAPercent() {
    assertThat(GpuProjection.ROWS).hasSize(5);
    for (GpuProjection row : GpuProjection.ROWS) {
      assertThat(row.error()).as("%d tokens", row.context()).isCloseTo(0, within(0.005));
    }
  }

  @Test
  void kernelTimesAddUpToTheTotalsOfTheirTables() {
    for (int devices : new int[] {1, 2, 4, 8}) {
      LayerProfile profile = LayerProfile.of(devices);
      assertThat(profile.layer()).isEqualTo(profile.statedLayer());
      // Table 5 states 42 ns less than its lines add up to.
      assertThat(profile.ends() / profile.statedEnds()).isCloseTo(1, within(1e-4));
    }
  }

  /** At 1k tokens nothing is fitted. */
  @Test
  void formulasGiveTheTokenTimesOfTheTables() {
    assertThat(MODEL.tensor(1, 1) / 1e6).isCloseTo(31.64, within(0.01));
    assertThat(MODEL.tensor(2, 1) / 1e6).isCloseTo(21.03, within(0.01));
    assertThat(MODEL.tensor(4, 1) / 1e6).isCloseTo(14.83, within(0.01));
    assertThat(MODEL.tensor(8, 1) / 1e6).isCloseTo(16.08, within(0.01));
  }

  @Test
  void hitsHideExactAttention() {
    TokenTime time = new TokenTime(4, 10, 100);
    assertThat(time.exact(50)).isEqualTo(610);
    assertThat(time.speculative(0, 50, 5)).isEqualTo(time.exact(50));
    assertThat(time.speculative(4, 50, 5)).isEqualTo(10 + 4 * 105);
    assertThat(time.speculative(4, 200, 5)).isEqualTo(10 + 4 * 200);
    assertThat(time.speculative(1, 50, 5)).isEqualTo(10 + 105 + 3 * 150);
    assertThat(time.wholeHits(0.65)).isEqualTo(2);
  }

  @Test
  void theFittedGainIsThatOfThePaper() {
    assertThat(MODEL.gain(8, 96, 0.875)).isCloseTo(1.65, within(1e-9));
    assertThat(MODEL.tensor(4, 128) / MODEL.tensor(8, 128)).isBetween(0.9, 1.1);
  }

  @Test
  void aSteeperSlopeWithTheSameGainExplainsLessOfTheAttention() {
    ScalingModel steeper = new ScalingModel(19_254);
    assertThat(steeper.gain(8, 96, 0.875)).isCloseTo(1.65, within(1e-3));
    assertThat(steeper.tensorAttention(8, 128) / steeper.speculativeAttention(8, 128, 0.875))
        .isCloseTo(2.0, within(0.05));
  }

  @Test
  void thePageShowsTheModel() throws IOException {
    LatencyTables tables = new LatencyTables(MODEL);
    Map<String, String> sections = new LinkedHashMap<>();
    sections.put("gpus", tables.gpus());
    sections.put("profiles", tables.profiles());
    sections.put("statements", tables.statements());
    sections.put("scaling", tables.scaling());
    String page = Files.readString(PAGE);
    String expected = page;
    for (Map.Entry<String, String> section : sections.entrySet()) {
      String begin = BEGIN.formatted(section.getKey());
      assertThat(expected).contains(begin);
      int start = expected.indexOf(begin) + begin.length();
      expected =
          expected.substring(0, start)
              + section.getValue()
              + expected.substring(expected.indexOf(END, start));
    }
    compare(PAGE, expected);
    compare(PICTURE, ScalingPicture.of(MODEL));
  }

  private static void compare(Path file, String expected) throws IOException {
    if (Boolean.getBoolean("golden.update")) {
      Files.writeString(file, expected);
    } else {
      assertThat(file).hasContent(expected);
    }
  }
}
