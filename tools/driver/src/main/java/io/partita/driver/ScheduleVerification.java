package io.partita.driver;

import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.PassCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;

/**
 * Evaluates schedules on seeded inputs. States are zeros before the run.
 *
 * @param seed of the inputs
 */
public record ScheduleVerification(long seed) {
  /** Devices add in another order, and functions of kernels aren't exact. */
  private static final double RELATIVE = 1e-4;

  /**
   * Compares a schedule with the module that it was made of: one line that says how far the results
   * are apart.
   *
   * @throws PartitaException when they are further apart than the tolerance, or a device does what
   *     it mayn't
   */
  public String check(Module before, Schedule schedule) {
    Graph graph = before.graph();
    List<Tensor> seeded = SeededInputs.of(graph, seed);
    List<Tensor> inputs = new ArrayList<>();
    Map<String, Tensor> named = new HashMap<>();
    for (int i = 0; i < seeded.size(); i++) {
      String name = graph.inputs().get(i).name();
      boolean isState = before.states().stream().anyMatch(each -> each.input().equals(name));
      Tensor input = isState ? Tensor.filled(seeded.get(i).type(), 0) : seeded.get(i);
      inputs.add(input);
      named.put(name, input);
    }
    // What travels encoded, or varies, isn't what whole values give.
    List<Tensor> expected =
        before.placement().isPresent()
            ? MeshEvaluator.run(before, inputs)
            : Evaluator.run(graph, inputs);
    SortedMap<String, Tensor> found = new ScheduleEvaluator(schedule).run(named);
    double worst = 0;
    for (int i = 0; i < expected.size(); i++) {
      String name = graph.outputs().get(i).name();
      if (found.containsKey(name)) {
        worst = Math.max(worst, difference(name, expected.get(i), found.get(name)));
      }
    }
    return "verify schedule: same results (largest relative difference %.2g)".formatted(worst);
  }

  private double difference(String name, Tensor expected, Tensor found) {
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      double magnitude = Math.abs(expected.getDouble(i));
      largest = Double.isFinite(magnitude) ? Math.max(largest, magnitude) : largest;
    }
    Tolerance tolerance =
        new Tolerance(OptionalDouble.of(0), OptionalDouble.of(RELATIVE * largest));
    Comparison comparison = Comparison.of(name, expected, found, tolerance);
    if (!comparison.passes()) {
      throw new PartitaException(
          PassCode.CHANGED_MEANING,
          "pass schedule, seed " + seed,
          "results within " + RELATIVE + " of the largest value",
          comparison.message(),
          "report this as a bug in Partita, with the model");
    }
    return comparison.worst() * RELATIVE;
  }

  /**
   * Runs a schedule alone: a line for each output.
   *
   * @throws PartitaException when the schedule doesn't hold together, or a device does what it
   *     mayn't
   */
  public List<String> run(Schedule schedule) {
    ScheduleVerifier.verify(schedule);
    GraphBuilder inputs = new GraphBuilder("inputs");
    schedule.inputs().forEach((name, type) -> inputs.input(name, type.type()));
    Graph graph = inputs.finish();
    List<Tensor> seeded = SeededInputs.of(graph, seed);
    Map<String, Tensor> named = new HashMap<>();
    for (int i = 0; i < seeded.size(); i++) {
      named.put(graph.inputs().get(i).name(), seeded.get(i));
    }
    List<String> lines = new ArrayList<>();
    new ScheduleEvaluator(schedule)
        .run(named)
        .forEach((name, tensor) -> lines.add("evaluated " + name + ": " + tensor));
    return lines;
  }
}
