package io.partita.backend.siracusa;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
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
import java.util.LinkedHashMap;
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
    verify("tensor=3,norm=tokens", new Algorithm.Direct(), 3);
  }

  @Tag("thorough")
  @Test
  void allAlgorithms() throws IOException {
    for (String strategy : OverlappedBlocks.STRATEGIES) {
      for (Algorithm algorithm : OverlappedBlocks.ALGORITHMS) {
        verify(strategy, algorithm, 3);
      }
    }
  }

  private void verify(String strategy, Algorithm algorithm, int tiles) throws IOException {
    Graph graph = OverlappedBlocks.graph();
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    graph
        .inputs()
        .forEach(in -> inputs.put(in.name(), SampleValues.value(in.type(), new Draw(tiles))));
    Schedule schedule =
        Scheduler.schedule(
            OverlappedBlocks.program(graph, strategy, algorithm, tiles),
            TargetLibrary.find("siracusa:chips=4"),
            SchedulerOptions.STANDARD);
    for (String transfers : List.of("early", "late")) {
      Path own = folder.resolve(strategy + "-" + algorithm + "-" + tiles + transfers);
      CloseTensors.verify(
          List.copyOf(SanitisedBuild.run(schedule, inputs, own, transfers).values()),
          Evaluator.run(graph, List.copyOf(inputs.values())));
    }
  }
}
