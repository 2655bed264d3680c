package io.partita.tests.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the planner's latencies with those that ASTRA publishes. The tables in {@code
 * docs/measurements.md} are those of {@link LatencyTables}; {@code -Dgolden.update=true} updates
 * them.
 */
@Tag("thorough")
final class AstraLatencyTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "measurements.md");
  private static final String BEGIN = "<!-- computed by AstraLatencyTest: %s -->\n";
  private static final String END = "\n<!-- end -->";

  private static LatencyTables tables;

  @BeforeAll
  static void writeModel(@TempDir Path folder) throws IOException {
    tables = new LatencyTables(new EncoderLatency(folder));
  }

  @Test
  void baselinesOfTable4AreWithinFivePercent() {
    for (PublishedSpeedup row : PublishedSpeedup.TABLE_4) {
      boolean isFitted = row.megabits() == PublishedSpeedup.FITTED_MEGABITS;
      double bound = isFitted ? 0.01 : 0.05;
      assertThat(tables.ratio(LatencyMethod.TENSOR, row.megabits()) / row.tensor())
          .as("TP at %d Mbps", row.megabits())
          .isCloseTo(1, within(bound));
      assertThat(tables.ratio(LatencyMethod.SEQUENCE, row.megabits()) / row.sequence())
          .as("SP at %d Mbps", row.megabits())
          .isCloseTo(1, within(bound));
    }
  }

  /** Compares the tables in the setting of table 4 and, unless updating, one row of each grid. */
  @Test
  void thePageShowsThePrediction() throws IOException {
    String page = Files.readString(PAGE);
    String expected = page;
    Map<String, String> sections = new LinkedHashMap<>();
    sections.put("table 4", tables.published());
    sections.put("milliseconds", tables.milliseconds());
    sections.put("statements", tables.statements());
    boolean updates = Boolean.getBoolean("golden.update");
    if (updates) {
      sections.put("one device", tables.single());
    }
    for (LatencyMethod method : LatencyMethod.values()) {
      if (updates) {
        sections.put(method.text(), tables.grid(method));
      } else {
        assertThat(section(page, method.text())).contains(tables.row(method, 8, 256));
      }
    }
    for (Map.Entry<String, String> each : sections.entrySet()) {
      expected = replaced(expected, each.getKey(), each.getValue());
    }
    if (updates) {
      Files.writeString(PAGE, expected);
    } else {
      assertThat(PAGE).hasContent(expected);
    }
  }

  private static String section(String page, String name) {
    int start = start(page, name);
    return page.substring(start, page.indexOf(END, start));
  }

  private static String replaced(String page, String name, String text) {
    int start = start(page, name);
    return page.substring(0, start) + text + page.substring(page.indexOf(END, start));
  }

  private static int start(String page, String name) {
    String begin = BEGIN.formatted(name);
    assertThat(page).contains(begin);
    return page.indexOf(begin) + begin.length();
  }
}
