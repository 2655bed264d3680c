package io.partita.benchmarks.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.measure.StepLabel;
import io.partita.backend.emitted.measure.StepLabel.Kind;
import io.partita.benchmarks.paper.Run;
import io.partita.ir.graph.Origin;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RunFiguresTest {
  private static final EnergyModel ENERGY = new EnergyModel(1000, 2, 0.5, 3, 7);

  @Test
  void theSlowestChipsCyclesAreSplitByKindAndBytesOfAllChipsAdded() {
    PredictedRun.Chip predicted =
        new PredictedRun.Chip(
            0,
            ENERGY,
            Stream.of(Kind.FETCH, Kind.LOOP, Kind.WAIT, Kind.AWAIT_ROWS, Kind.EXCHANGE)
                .map(RunFiguresTest::label)
                .toList(),
            List.of(figures(500, 30, Traffic.NONE)));
    List<StepFigures> slow =
        List.of(
            figures(10, 0, new Traffic(0, 64, 0, 0)),
            figures(100, 70, new Traffic(8, 0, 0, 0)),
            figures(40, 0, Traffic.NONE),
            figures(5, 0, new Traffic(0, 4, 0, 0)),
            figures(60, 20, new Traffic(0, 0, 16, 16)));
    List<StepFigures> fast =
        List.of(
            figures(1, 0, new Traffic(0, 32, 0, 0)),
            figures(2, 1, Traffic.NONE),
            figures(3, 0, Traffic.NONE),
            figures(4, 0, Traffic.NONE),
            figures(5, 1, new Traffic(0, 0, 16, 16)));

    Run run =
        RunFigures.of(
            new PredictedRun("siracusa", 0, 0, List.of(predicted, predicted)), List.of(fast, slow));

    assertThat(run.chips()).isEqualTo(2);
    assertThat(run.predicted()).isEqualTo(500);
    assertThat(run.kernels()).isEqualTo(30);
    assertThat(run.slowest()).isEqualTo(new Run.Breakdown(90, 40, 45, 40));
    assertThat(run.cycles()).isEqualTo(215);
    assertThat(run.moved()).isEqualTo(new Run.Moved(8, 100, 68, 96, 32));
    assertThat(run.energy().compute()).isEqualTo(92 / 1000.0 * 2, within(1e-12));
    assertThat(run.energy().l2()).isEqualTo(4);
    assertThat(run.energy().l3()).isEqualTo(300);
    assertThat(run.energy().link()).isEqualTo(224);
  }

  private static StepLabel label(Kind kind) {
    return new StepLabel(kind, Origin.NONE, "", -1, 0, 0);
  }

  private static StepFigures figures(long cycles, long computing, Traffic moved) {
    return new StepFigures(0, cycles, computing, moved);
  }
}
