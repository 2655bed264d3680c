package io.partita.passes.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.residency.WeightPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * The MCU paper's published figures beside what Partita predicts: the table of {@code
 * docs/costs.md}, which {@code -Dgolden.update=true} writes anew.
 */
class PaperTableTest {
  private static final Path PAGE = Path.of("..", "docs", "costs.md");
  private static final String BEGIN = "<!-- computed by PaperTableTest -->";
  private static final String END = "<!-- end -->";

  private static final PaperModel DECODE = PaperModel.tinyLlama(8, 1, 128);
  private static final PaperModel PROMPT = PaperModel.tinyLlama(8, 16, 0);
  private static final PaperModel DECODE_64 = PaperModel.tinyLlama(64, 1, 128);
  private static final PaperModel BERT = PaperModel.mobileBert();

  /** Blocks run as the paper shows them: all weights have come, cores wait for their tiles. */
  private static final Kernels PAPER =
      new Kernels(
          ",matvec=3.9MAC/cycle,matmul=8.7MAC/cycle",
          PlanOptions.DEFAULT.floats(ElementType.I8).buffers(1).awaitsBlocks(false));

  private static final Kernels OWN =
      new Kernels("", PlanOptions.DEFAULT.floats(ElementType.I8).awaitsBlocks(false));

  private record Kernels(String arguments, PlanOptions options) {
    PlanReport report(PaperModel model, int chips) {
      return Plans.report(
          model.program(chips), TargetLibrary.find("siracusa:chips=" + chips + arguments), options);
    }

    double milliseconds(PaperModel model, int chips) {
      return report(model, chips).seconds() / model.blocks() * 1e3;
    }

    double millijoules(PaperModel model, int chips) {
      return report(model, chips).totalJoules() / model.blocks() * 1e3;
    }

    double speedup(PaperModel model, int chips) {
      return milliseconds(model, 1) / milliseconds(model, chips);
    }

    double saving(PaperModel model, int chips) {
      return millijoules(model, 1) / millijoules(model, chips);
    }
  }

  private record Row(String what, double paper, String unit, ToDoubleFunction<Kernels> figure) {
    double error() {
      return figure.applyAsDouble(PAPER) / paper - 1;
    }

    String text() {
      return String.format(
          Locale.ROOT,
          "| %s | %s%s | %.3g%s | %+.0f %% | %.3g%s |",
          what,
          number(paper),
          unit,
          figure.applyAsDouble(PAPER),
          unit,
          100 * error(),
          figure.applyAsDouble(OWN),
          unit);
    }

    private static String number(double value) {
      return String.format(Locale.ROOT, "%.3g", value);
    }
  }

  private static final List<Row> ROWS =
      List.of(
          new Row("TinyLlama, a token, 1 chip: time", 14.1, " ms", k -> k.milliseconds(DECODE, 1)),
          new Row("8 chips: time", 0.54, " ms", k -> k.milliseconds(DECODE, 8)),
          new Row("8 chips: speedup", 26.1, "", k -> k.speedup(DECODE, 8)),
          new Row("1 chip: energy", 0.667, " mJ", k -> k.millijoules(DECODE, 1)),
          new Row("8 chips: energy", 0.64, " mJ", k -> k.millijoules(DECODE, 8)),
          new Row(
              "8 chips: energy × delay, saved",
              27.2,
              "",
              k -> k.speedup(DECODE, 8) * k.saving(DECODE, 8)),
          new Row("16 tokens, 8 chips: speedup", 9.9, "", k -> k.speedup(PROMPT, 8)),
          new Row("64 heads, a token, 64 chips: speedup", 60.1, "", k -> k.speedup(DECODE_64, 64)),
          new Row("64 heads, 64 chips: energy saved", 1.3, "", k -> k.saving(DECODE_64, 64)),
          new Row("MobileBERT, 4 chips: time", 38.8, " ms", k -> k.milliseconds(BERT, 4)),
          new Row("4 chips: speedup", 4.7, "", k -> k.speedup(BERT, 4)));

  private static String table() {
    List<String> lines = new ArrayList<>();
    lines.add("| a block of | paper | predicted | error | with Partita's kernels |");
    lines.add("| --- | --- | --- | --- | --- |");
    ROWS.forEach(row -> lines.add(row.text()));
    lines.add("");
    lines.add("| chips | weights of TinyLlama | of 64 heads | of MobileBERT |");
    lines.add("| --- | --- | --- | --- |");
    for (int chips : new int[] {1, 2, 4, 8, 16, 32, 64}) {
      lines.add(
          "| "
              + chips
              + " | "
              + weights(DECODE, chips)
              + " | "
              + weights(DECODE_64, chips)
              + " | "
              + weights(BERT, chips)
              + " |");
    }
    return String.join("\n", lines);
  }

  private static String weights(PaperModel model, int chips) {
    return chips > model.heads() ? "" : place(model, chips).text();
  }

  private static WeightPlace place(PaperModel model, int chips) {
    return OWN.report(model, chips).devices().getFirst().weights();
  }

  @Test
  void thePageShowsWhatIsPredicted() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    String table = "\n" + table() + "\n";
    if (Boolean.getBoolean("golden.update")) {
      Files.writeString(PAGE, page.substring(0, begin) + table + page.substring(end));
    } else {
      assertThat(page.substring(begin, end)).isEqualTo(table);
    }
  }

  /** What the paper says fits (sections V-B and V-C), with one byte a weight. */
  @Test
  void weightsFitWhereThePaperSaysSo() {
    assertThat(place(DECODE, 4)).isEqualTo(WeightPlace.IN_TILES);
    assertThat(place(DECODE, 8)).isEqualTo(WeightPlace.BLOCK_AHEAD);
    assertThat(place(BERT, 1)).isEqualTo(WeightPlace.IN_TILES);
    assertThat(place(BERT, 4)).isEqualTo(WeightPlace.BLOCK_AHEAD);
    assertThat(place(DECODE_64, 4)).isEqualTo(WeightPlace.IN_TILES);
    assertThat(place(DECODE_64, 8)).isEqualTo(WeightPlace.BLOCK_AHEAD);
    assertThat(place(DECODE_64, 16)).isEqualTo(WeightPlace.BLOCK_AHEAD);
    assertThat(place(DECODE_64, 32)).isEqualTo(WeightPlace.ON_CHIP);
    assertThat(place(DECODE_64, 64)).isEqualTo(WeightPlace.ON_CHIP);
  }

  /**
   * Section V-B: L3 takes most of the time on 1 to 4 chips, none on 8; in prompts computing does.
   */
  @Test
  void timeGoesWhereThePapersFigure4ShowsIt() {
    for (int chips : new int[] {1, 2, 4}) {
      PlanReport report = PAPER.report(DECODE, chips);
      assertThat(report.breakdown().get("l3")).isGreaterThan(0.5 * report.seconds());
    }
    assertThat(PAPER.report(DECODE, 8).breakdown().keySet())
        .containsExactly("compute", "l2", "links");
    for (int chips : new int[] {1, 2, 4, 8}) {
      PlanReport report = PAPER.report(PROMPT, chips);
      assertThat(report.breakdown().get("compute")).isGreaterThan(0.5 * report.seconds());
    }
    // Section V-C: more than linear for 8, 16 and 32 chips, less for 2 and 4.
    for (int chips : new int[] {2, 4}) {
      assertThat(PAPER.speedup(DECODE_64, chips)).isLessThan(chips);
    }
    for (int chips : new int[] {8, 16, 32}) {
      assertThat(PAPER.speedup(DECODE_64, chips)).isGreaterThan(chips);
    }
  }

  @Test
  void errorsAreAsThePageExplains() {
    for (Row row : ROWS) {
      assertThat(Math.abs(row.error())).as(row.what()).isLessThan(0.35);
    }
    assertThat(ROWS.subList(0, 7)).allMatch(row -> Math.abs(row.error()) < 0.1);
  }
}
