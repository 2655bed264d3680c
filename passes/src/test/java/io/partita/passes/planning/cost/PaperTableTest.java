package io.partita.passes.planning.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.planning.residency.WeightPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * Compares the MCU paper's published figures with predictions in the tables of {@code
 * docs/costs.md}, which {@code -Dgolden.update=true} updates.
 */
class PaperTableTest {
  private static final Path PAGE = Path.of("..", "docs", "costs.md");
  private static final String BEGIN = "<!-- computed by PaperTableTest -->";
  private static final String END = "<!-- end -->";

  private static final PaperModel BERT = PaperModel.mobileBert();

  /** Runs blocks as in the paper: all weights are in L2, and cores wait for their tiles. */
  private static final PlanOptions SHOWN =
      PlanOptions.DEFAULT.floats(ElementType.I8).buffers(1).awaitsBlocks(false);

  private static final Setting GATED =
      new Setting(true, ",matvec=3.9MAC/cycle,matmul=8.7MAC/cycle", SHOWN);

  private static final Setting PLAIN =
      new Setting(false, ",matvec=2.0MAC/cycle,matmul=8.7MAC/cycle", SHOWN);

  private static final Setting OWN =
      new Setting(true, "", PlanOptions.DEFAULT.floats(ElementType.I8).awaitsBlocks(false));

  /** Many rows ask for the same. */
  private static final Map<Prediction, PlanReport> REPORTS = new HashMap<>();

  private record Prediction(Setting setting, PaperModel model, int chips) {}

  /**
   * @param gated whether TinyLlama's network has three weights
   * @param arguments the arguments of the target
   */
  private record Setting(boolean gated, String arguments, PlanOptions options) {
    PaperModel decode() {
      return PaperModel.tinyLlama(gated, 8, 1, 128);
    }

    PaperModel prompt() {
      return PaperModel.tinyLlama(gated, 8, 16, 0);
    }

    PaperModel decode64() {
      return PaperModel.tinyLlama(gated, 64, 1, 128);
    }

    PlanReport report(PaperModel model, int chips) {
      return REPORTS.computeIfAbsent(
          new Prediction(this, model, chips),
          prediction ->
              Plans.report(
                  model.program(chips),
                  TargetLibrary.find("siracusa:chips=" + chips + arguments),
                  options));
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

    String place(PaperModel model, int chips) {
      return report(model, chips).devices().getFirst().weights();
    }
  }

  private record Row(String what, double paper, String unit, ToDoubleFunction<Setting> figure) {
    double error(Setting setting) {
      return figure.applyAsDouble(setting) / paper - 1;
    }

    String text() {
      return String.format(
          Locale.ROOT,
          "| %s | %.3g%s | %s | %s | %.3g%s |",
          what,
          paper,
          unit,
          predicted(GATED),
          predicted(PLAIN),
          figure.applyAsDouble(OWN),
          unit);
    }

    private String predicted(Setting setting) {
      return String.format(
          Locale.ROOT,
          "%.3g%s, %+d %%",
          figure.applyAsDouble(setting),
          unit,
          Math.round(100 * error(setting)));
    }
  }

  private static final List<Row> ROWS =
      List.of(
          new Row(
              "TinyLlama, a token, 1 chip: time", 14.1, " ms", s -> s.milliseconds(s.decode(), 1)),
          new Row("8 chips: time", 0.54, " ms", s -> s.milliseconds(s.decode(), 8)),
          new Row("8 chips: speedup", 26.1, "", s -> s.speedup(s.decode(), 8)),
          new Row("1 chip: energy", 0.667, " mJ", s -> s.millijoules(s.decode(), 1)),
          new Row("8 chips: energy", 0.64, " mJ", s -> s.millijoules(s.decode(), 8)),
          new Row(
              "8 chips: energy × delay, saved",
              27.2,
              "",
              s -> s.speedup(s.decode(), 8) * s.saving(s.decode(), 8)),
          new Row("16 tokens, 8 chips: speedup", 9.9, "", s -> s.speedup(s.prompt(), 8)),
          new Row(
              "64 heads, a token, 64 chips: speedup", 60.1, "", s -> s.speedup(s.decode64(), 64)),
          new Row("64 heads, 64 chips: energy saved", 1.3, "", s -> s.saving(s.decode64(), 64)),
          new Row("MobileBERT, 4 chips: time", 38.8, " ms", s -> s.milliseconds(BERT, 4)),
          new Row("4 chips: speedup", 4.7, "", s -> s.speedup(BERT, 4)));

  private static String tables() {
    List<String> lines = new ArrayList<>();
    lines.add("| a block of | paper | predicted, gated | not gated | Partita's kernels |");
    lines.add("| --- | --- | --- | --- | --- |");
    ROWS.forEach(row -> lines.add(row.text()));
    lines.add("");
    lines.add(
        "| chips | TinyLlama's weights, gated | not gated | 64 heads, gated | not gated | MobileBERT's |");
    lines.add("| --- | --- | --- | --- | --- | --- |");
    for (int chips : new int[] {1, 2, 4, 8, 16, 32, 64}) {
      lines.add(
          "| "
              + String.join(
                  " | ",
                  String.valueOf(chips),
                  weights(GATED, GATED.decode(), chips),
                  weights(PLAIN, PLAIN.decode(), chips),
                  weights(GATED, GATED.decode64(), chips),
                  weights(PLAIN, PLAIN.decode64(), chips),
                  weights(GATED, BERT, chips))
              + " |");
    }
    return String.join("\n", lines);
  }

  private static String weights(Setting setting, PaperModel model, int chips) {
    return chips > model.heads() ? "" : setting.place(model, chips);
  }

  @Test
  void thePageShowsThePrediction() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    String tables = "\n" + tables() + "\n";
    if (Boolean.getBoolean("golden.update")) {
      Files.writeString(PAGE, page.substring(0, begin) + tables + page.substring(end));
    } else {
      assertThat(page.substring(begin, end)).isEqualTo(tables);
    }
  }

  /** Tests which weights fit, as in sections V-B and V-C, with one byte per weight and a gate. */
  @Test
  void weightsFitAsInThePaper() {
    PaperModel decode = GATED.decode();
    assertThat(GATED.place(decode, 4)).isEqualTo(WeightPlace.IN_TILES.text());
    assertThat(GATED.place(decode, 8)).isEqualTo(WeightPlace.BLOCK_AHEAD.text());
    assertThat(GATED.place(BERT, 1)).isEqualTo(WeightPlace.IN_TILES.text());
    assertThat(GATED.place(BERT, 4)).isEqualTo(WeightPlace.BLOCK_AHEAD.text());
    PaperModel wide = GATED.decode64();
    assertThat(GATED.place(wide, 4)).isEqualTo(WeightPlace.IN_TILES.text());
    assertThat(GATED.place(wide, 8)).isEqualTo(WeightPlace.BLOCK_AHEAD.text());
    assertThat(GATED.place(wide, 16)).isEqualTo(WeightPlace.BLOCK_AHEAD.text());
    assertThat(GATED.place(wide, 32)).isEqualTo(WeightPlace.ON_CHIP.text());
    assertThat(GATED.place(wide, 64)).isEqualTo(WeightPlace.ON_CHIP.text());
  }

  /**
   * Section V-B: L3 dominates on 1 to 4 chips and is unused on 8; in prompts, computing dominates.
   */
  @Test
  void timeGoesWhereThePapersFigure4ShowsIt() {
    for (int chips : new int[] {1, 2, 4}) {
      PlanReport report = GATED.report(GATED.decode(), chips);
      assertThat(report.breakdown().get("l3")).isGreaterThan(0.5 * report.seconds());
    }
    assertThat(GATED.report(GATED.decode(), 8).breakdown().keySet())
        .containsExactly("compute", "l2", "links");
    for (int chips : new int[] {1, 2, 4, 8}) {
      PlanReport report = GATED.report(GATED.prompt(), chips);
      assertThat(report.breakdown().get("compute")).isGreaterThan(0.5 * report.seconds());
    }
    // Section V-C: more than linear for 8, 16 and 32 chips, less for 2 and 4.
    for (int chips : new int[] {2, 4}) {
      assertThat(GATED.speedup(GATED.decode64(), chips)).isLessThan(chips);
    }
    for (int chips : new int[] {8, 16, 32}) {
      assertThat(GATED.speedup(GATED.decode64(), chips)).isGreaterThan(chips);
    }
  }

  @Test
  void errorsAreThoseOfThePage() {
    for (Row row : ROWS) {
      assertThat(Math.abs(row.error(GATED))).as(row.what()).isLessThan(0.35);
    }
    assertThat(ROWS.subList(0, 7)).allMatch(row -> Math.abs(row.error(GATED)) < 0.1);
  }
}
