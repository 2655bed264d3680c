package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.backend.emitted.run.Port;
import io.partita.ir.arbitrary.Draw;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Graph;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.schedule.OverlappedBlocks;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests chips whose messages travel while they compute. */
@Order(Integer.MAX_VALUE - 1)
@ExtendWith(WithCompiler.class)
class OverlapInCTest {
  @TempDir private Path folder;

  @Test
  void sumsInPartsAreThoseOfTheModel() throws IOException {
    verify("tensor=2", new Algorithm.Direct(), 2);
  }

  /** Tests that records of messages are compared, too. */
  @Test
  void stepsAgreeWithTheReference() throws IOException {
    Graph graph = OverlappedBlocks.graph();
    Schedule schedule = schedule(graph, "tensor=2,norm=tokens", new Algorithm.Direct(), 3);
    OutputFolder.write(ProgramPrinter.emit(schedule, 8).files(), folder, path -> false);
    ProbeComparison.Result result =
        new ProbeComparison(
                folder, Port.HOST, Duration.ofMinutes(2), ProbeComparison.USUAL_TOLERANCE)
            .run(
                List.copyOf(SampleValues.inputs(graph, new Draw(1)).values()),
                List.of(),
                List.of());
    assertThat(result.finding()).isEmpty();
    assertThat(result.steps()).isEqualTo(schedule.roles().getFirst().steps().size());
  }

  /** Each strategy with an algorithm of its own. */
  @Tag("thorough")
  @Test
  void someAlgorithms() throws IOException {
    verifyPairs(true);
  }

  @Tag("exhaustive")
  @Test
  void otherAlgorithms() throws IOException {
    verifyPairs(false);
  }

  private void verifyPairs(boolean areSampled) throws IOException {
    List<String> strategies = OverlappedBlocks.STRATEGIES;
    List<Algorithm> algorithms = OverlappedBlocks.ALGORITHMS;
    for (int s = 0; s < strategies.size(); s++) {
      for (int a = 0; a < algorithms.size(); a++) {
        if (a == s + 1 == areSampled) {
          verify(strategies.get(s), algorithms.get(a), 3);
        }
      }
    }
  }

  private static Schedule schedule(Graph graph, String strategy, Algorithm algorithm, int tiles) {
    return Scheduler.schedule(
        OverlappedBlocks.program(graph, strategy, algorithm, tiles),
        TargetLibrary.find("siracusa:chips=4"),
        SchedulerOptions.STANDARD);
  }

  private void verify(String strategy, Algorithm algorithm, int tiles) throws IOException {
    Graph graph = OverlappedBlocks.graph();
    Map<String, Tensor> inputs = SampleValues.inputs(graph, new Draw(tiles));
    Schedule schedule = schedule(graph, strategy, algorithm, tiles);
    for (String transfers : List.of("early", "late")) {
      Path own = folder.resolve(strategy + "-" + algorithm + "-" + tiles + transfers);
      CloseTensors.verify(
          List.copyOf(SanitisedBuild.run(schedule, inputs, own, transfers).values()),
          Evaluator.run(graph, List.copyOf(inputs.values())));
    }
  }
}
