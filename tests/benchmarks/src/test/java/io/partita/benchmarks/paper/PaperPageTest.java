package io.partita.benchmarks.paper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in {@code docs} is the one of the figures beside it; {@code -Dgolden.update=true} writes
 * it again. What it states of a few made-up figures is compared in whole.
 */
class PaperPageTest {
  private static final Path DOCS = Path.of("..", "..", "docs");

  @Test
  void thePageIsMadeOfTheFiguresBesideIt() throws IOException {
    Measurements measured = Measurements.read(DOCS.resolve(PaperPage.NAME + ".json"));
    if (Boolean.getBoolean("golden.update")) {
      PaperPage.write(measured, DOCS);
    }
    for (Map.Entry<String, String> file : PaperPage.files(measured).entrySet()) {
      assertThat(DOCS.resolve(file.getKey())).hasContent(file.getValue());
    }
  }

  @Test
  void measurementsAreTheSameAfterReading(@TempDir Path folder) throws IOException {
    PaperPage.write(Examples.ALL, folder);
    assertThat(Measurements.read(folder.resolve(PaperPage.NAME + ".json"))).isEqualTo(Examples.ALL);
  }

  @Test
  void thePageRefersToItsPictures(@TempDir Path folder) throws IOException {
    PaperPage.write(Examples.ALL, folder);
    String page = Files.readString(folder.resolve(PaperPage.NAME + ".md"));
    for (String name : List.of("runtime", "energy", "speedup")) {
      String picture = PaperPage.NAME + "-" + name + ".svg";
      assertThat(page).contains("](" + picture + ")");
      assertThat(folder.resolve(picture)).content().startsWith("<svg ").endsWith("</svg>\n");
    }
  }

  @Test
  void aBlockHasARowForEachNumberOfChips() throws IOException {
    assertThat(section("### TinyLlama-42M, a token after 127 others"))
        .isEqualTo(
            """
            ### TinyLlama-42M, a token after 127 others

            | chips | split by | loads inside | measured, cycles | predicted | ms | speedup | mJ without L3 | with the next block's loads, ms | speedup | mJ | paper, ms | speedup | mJ |
            | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            | 1 |  | 2.00 MB | 2,400,000 | -10 % | 4.800 | 1 | 0.120 | 7.864 | 1 | 0.435 | 14.1 | 1 | 0.667 |
            | 8 | `tensor` | none | 100,000 | +2 % | 0.200 | 25 | 0.164 | 0.983 | 8 | 0.479 | 0.54 | 26.1 | 0.64 |

            """);
  }

  /** Only blocks that are measured have a row. */
  @Test
  void aBlockWithAGoalHasItsLowerBound() throws IOException {
    assertThat(section("## Lower bounds"))
        .endsWith(
            """
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            | TinyLlama block, token, 8 chips, weights on chips | 51,393 | 41,000 | 7,168 | 840 | 52,233 | 0.104 | 0.15 | 100,000 | 9,000 | 25,000 | 24,160 |

            """);
  }

  @Test
  void aKernelHasItsSizeAndBothRates() throws IOException {
    assertThat(section("## Kernels"))
        .contains("| int8 gemv | [1, 500] x [500, 1000] | 100,000 | 90,000 | 5.56 | 5.00 |\n");
  }

  @Test
  void aFunctionOfElementsHasTheCyclesOfACoreForEach() throws IOException {
    assertThat(section("## Kernels"))
        .contains("| softmax of f32 | [16, 250] | 12,000 | 10,000 | 20.0 |\n");
  }

  @Test
  void aNetworkThatIsNotThereHasARow() throws IOException {
    assertThat(section("## Beside Deeploy"))
        .contains(
            """
            | slow | 1,000 | 900 | 0.90 | 0.5 |
            | missing | 1,000 | not measured |  | 0.5 |
            """);
  }

  @Test
  void aBlockThatDoesNotFitHasItsReason() throws IOException {
    assertThat(section("### MobileBERT, 268 tokens"))
        .isEqualTo(
            """
            ### MobileBERT, 268 tokens


            On 1 chip it can't be compiled: L2 has room for 2 B; the block takes 3 B.

            """);
  }

  @Test
  void decodersSayWhatDiffersFromTheUsualOptions() throws IOException {
    assertThat(section("## Whole decoders"))
        .endsWith(
            """
            | tinyllama-42m, 8 | 8 | 20.00 | 16.40 | 6,000,000 | +5 % | 3,600,000 | 5,625,000 | 12.12 * | 4.00 |
            | tinyllama-42m-64h, 4, least traffic, `reserved=96KiB` | 8 | 0.00 | 8.20 | 6,000,000 | +5 % | 3,600,000 | 5,625,000 | 12.00 | 4.00 |
            """);
  }

  /** From a heading to the next. */
  private static String section(String heading) throws IOException {
    String page = PaperPage.files(Examples.ALL).get(PaperPage.NAME + ".md");
    int start = page.indexOf(heading + "\n");
    assertThat(start).isNotNegative();
    int end = page.indexOf("\n#", start + 1);
    return page.substring(start, end < 0 ? page.length() : end + 1);
  }
}
