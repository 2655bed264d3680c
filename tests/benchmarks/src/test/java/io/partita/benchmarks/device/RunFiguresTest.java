package io.partita.benchmarks.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.RunProfile;
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
            List.of(new StepFigures(0, 500, 30, Traffic.NONE)));
    RunProfile slow = new RunProfile(700, 215, 90, 45, 40, new Traffic(8, 68, 16, 16));
    RunProfile fast = new RunProfile(300, 15, 2, 7, 4, new Traffic(0, 32, 16, 16));

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
    return new StepLabel(kind, Origin.NONE, "", -1, 0, kind == Kind.FETCH ? 48 : 0);
  }
}
