package io.partita.backend.emitted.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.backend.emitted.measure.MeasuredChip.Transfer;
import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.ir.graph.Origin;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuredRunTest {
  private static final EnergyModel ENERGY = new EnergyModel(5e8, 0.104, 2e-12, 1e-10, 1e-10);

  /** Two weights: the program waits for the first at once, and computes during the second. */
  private static final Chip CHIP =
      new Chip(
          0,
          ENERGY,
          List.of(
              transfer("a", 0, 4096),
              transfer("b", 1, 8192),
              label(StepLabel.Kind.WAIT, "a", 0),
              label(StepLabel.Kind.LOOP, "a", -1),
              label(StepLabel.Kind.WAIT, "b", 1)),
          List.of(
              figures(0, 50, 0, 4096),
              figures(50, 50, 0, 8192),
              figures(100, 4900, 0, 0),
              figures(5000, 20_000, 18_000, 0),
              figures(25_000, 10, 0, 0)));

  private static final String REPORT =
      """
      {"ended": [0], "chips": [{"chip": 0, "cycles": 40000, "l2_l1": 64, "l3_l2": 12288, "received": 0,
        "sent": {"1": 8, "2": 4}, "l3": {"read": 12288, "written": 0, "transfers": [
          {"start": 10, "end": 200, "address": 0, "read": 64},
          {"start": 1060, "end": 6180, "address": 4096, "read": 4096},
          {"start": 6200, "end": 16440, "address": 8192, "read": 8192}]}}], "links": []}
      """;

  @TempDir Path folder;

  private static StepLabel transfer(String node, int number, long bytes) {
    return new StepLabel(StepLabel.Kind.FETCH, Origin.named(node), "", number, bytes, bytes);
  }

  private static StepLabel label(StepLabel.Kind kind, String node, int number) {
    return new StepLabel(
        kind,
        new Origin(node, OptionalInt.of(1), "query"),
        kind == StepLabel.Kind.LOOP ? "gemv" : "",
        number,
        0,
        0);
  }

  private static StepFigures figures(long start, long cycles, long compute, long l3) {
    return new StepFigures(start, cycles, compute, new Traffic(0, l3, 0, 0));
  }

  private static MeasuredChip measured() {
    List<StepFigures> steps =
        List.of(
            figures(1000, 60, 0, 4096),
            figures(1070, 60, 0, 8192),
            figures(1140, 5060, 0, 0),
            figures(6210, 21_000, 19_000, 0),
            figures(27_220, 30, 0, 0));
    return MeasuredRun.of(List.of(REPORT), List.of(steps)).chips().getFirst();
  }

  @Test
  void predictionsRoundTrip() throws IOException {
    Chip second = new Chip(0, ENERGY, CHIP.steps(), CHIP.figures().reversed().stream().toList());
    PredictedRun run =
        new PredictedRun("siracusa:chips=2", 1.25e-3, 3e-5, List.of(CHIP, restarted(second)));
    Files.writeString(folder.resolve(PredictedRun.FILE), run.json());
    assertThat(PredictedRun.read(folder)).isEqualTo(run);
  }

  /** Returns steps whose starts follow from the cycles. */
  private static Chip restarted(Chip chip) {
    long start = 0;
    List<StepFigures> figures = new ArrayList<>();
    for (StepFigures step : chip.figures()) {
      figures.add(new StepFigures(start, step.cycles(), step.computeCycles(), step.moved()));
      start += step.cycles();
    }
    return new Chip(chip.role(), chip.energy(), chip.steps(), figures);
  }

  @Test
  void countersOfReportsAreParsed() {
    MeasuredChip chip = measured();
    assertThat(chip.programCycles()).isEqualTo(40_000);
    assertThat(chip.programMoved()).isEqualTo(new Traffic(64, 12_288, 12, 0));
    assertThat(StepFigures.cycles(chip.steps())).isEqualTo(60 + 60 + 5060 + 21_000 + 30);
  }

  /** Tests that transfers before the run don't belong to its steps. */
  @Test
  void transfersBelongToTheStepsThatStartThem() {
    assertThat(measured().transfers(CHIP))
        .containsExactly(
            new Transfer(0, Origin.named("a"), 4096, 1000, 1060, 6180, 5060),
            new Transfer(1, Origin.named("b"), 8192, 1070, 6200, 16_440, 30));
  }

  /** Tests that the second transfer is hidden completely, and the first until the wait. */
  @Test
  void transfersAreHiddenUnlessAwaited() {
    MeasuredChip chip = measured();
    assertThat(chip.l3Cycles()).isEqualTo(5120 + 10_240);
    assertThat(chip.hiddenL3Cycles(CHIP)).isEqualTo(10_240 + 5120 - (6180 - 1140));
    assertThat(MeasuredChip.waitCycles(CHIP, chip.steps())).isEqualTo(5060 + 30);
  }

  /** 104 mW while kernels run, and 100 pJ for each byte from L3. */
  @Test
  void energyFollowsFromTimeAndBytes() {
    List<StepFigures> steps = measured().steps();
    double joules =
        CHIP.energy().joules(StepFigures.computeCycles(steps), StepFigures.moved(steps));
    assertThat(joules).isCloseTo(19_000 / 5e8 * 0.104 + 12_288 * 100e-12, within(1e-15));
  }
}
