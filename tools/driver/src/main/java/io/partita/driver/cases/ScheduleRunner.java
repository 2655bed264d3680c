package io.partita.driver.cases;

import io.partita.driver.Entries;
import io.partita.driver.Sharding;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Schedules modules for chips and evaluates the schedules, without a C compiler.
 *
 * @param sharding the distribution; empty for one chip
 */
public record ScheduleRunner(ChipTarget target, Optional<Sharding> sharding)
    implements ModuleRunner {
  @Override
  public Prepared prepare(Module module) {
    Module distributed =
        target.withSyncs(sharding.map(chosen -> chosen.run(module)).orElse(module));
    ScheduleEvaluator evaluator =
        new ScheduleEvaluator(target.schedule(target.programs(new Entries(distributed), false)));
    Graph graph = module.graph();
    return inputs -> {
      Map<String, Tensor> given = new HashMap<>();
      for (int i = 0; i < inputs.size(); i++) {
        given.put(graph.inputs().get(i).name(), inputs.get(i));
      }
      Map<String, Tensor> outputs = evaluator.run(given);
      return graph.outputs().stream().map(output -> outputs.get(output.name())).toList();
    };
  }
}
