package io.partita.driver;

import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.Pass;
import io.partita.passes.PassCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Evaluates a module before and after a pass on the same seeded inputs. A pass that changes the
 * inputs (by giving the module state) can't be compared so, and says it.
 */
public final class NumericVerification {
  /**
   * Relative to the largest value of the tensor: passes may reassociate float sums, whose error
   * grows with the number of terms n as n·2^-24; 1e-4 is that for n = 1600.
   */
  private static final double RELATIVE = 1e-4;

  private final long seed;

  public NumericVerification(long seed) {
    this.seed = seed;
  }

  private static String usualNumbers(Module module) {
    Map<String, Long> numbers =
        new UsualExtents(module.graph(), DecoderDimensions.of(module).tokens(), note -> {})
            .choose(Map.of(), Set.of());
    return module.graph().symbols().stream()
        .map(symbol -> "--dim " + symbol + "=" + numbers.getOrDefault(symbol, 1L))
        .collect(Collectors.joining(" ", "add ", ", or other numbers"));
  }

  /**
   * One line that says how far the results are apart.
   *
   * @throws PartitaException when they are further apart than the tolerance; it names the first
   *     node that differs
   */
  public String check(Pass pass, Module before, Module after) {
    if (!inputTypes(before.graph()).equals(inputTypes(after.graph()))) {
      return "verify " + pass.name() + ": the pass changes the inputs; not compared";
    }
    if (!before.graph().symbols().isEmpty()) {
      throw new PartitaException(
          PassCode.SYMBOLIC_DIMENSION,
          "inputs of the module",
          "numbers, so that it can be evaluated",
          String.join(", ", before.graph().symbols()),
          usualNumbers(before));
    }
    List<Tensor> inputs = SeededInputs.of(before.graph(), seed);
    Map<String, Tensor> namedBefore = new HashMap<>();
    List<Tensor> expected =
        Evaluator.run(
            before.graph(), inputs, (node, results) -> record(node, results, namedBefore));
    List<String> diverging = new ArrayList<>();
    List<Tensor> found =
        Evaluator.run(
            after.graph(),
            inputs,
            (node, results) -> findDivergence(node, results, namedBefore, diverging));
    double worst = 0;
    for (int i = 0; i < expected.size(); i++) {
      String name = before.graph().outputs().get(i).name();
      Comparison comparison =
          Comparison.of(name, expected.get(i), found.get(i), tolerance(expected.get(i)));
      if (!comparison.passes()) {
        throw new PartitaException(
            PassCode.CHANGED_MEANING,
            "pass "
                + pass.name()
                + ", seed "
                + seed
                + (diverging.isEmpty() ? "" : ", first at " + diverging.getFirst()),
            "results within " + RELATIVE + " of the largest value",
            comparison.message(),
            "report this as a bug in Partita, with the model");
      }
      worst = Math.max(worst, comparison.worst() * RELATIVE);
    }
    String same =
        "verify %s: same results (largest relative difference %.2g)".formatted(pass.name(), worst);
    return varies(after) ? same + onDevices(before, after, inputs) : same;
  }

  private static boolean varies(Module module) {
    return module.graph().nodes().stream()
        .anyMatch(node -> node.op() instanceof Communication.Variation);
  }

  /** What varies is one value in the evaluation of whole values; how far it departs is said. */
  private static String onDevices(Module before, Module after, List<Tensor> inputs) {
    List<Tensor> expected =
        before.placement().isPresent()
            ? MeshEvaluator.run(before, inputs)
            : Evaluator.run(before.graph(), inputs);
    List<Tensor> found = MeshEvaluator.run(after, inputs);
    double worst = 0;
    for (int i = 0; i < expected.size(); i++) {
      Tensor one = expected.get(i);
      worst = Math.max(worst, Comparison.of("", one, found.get(i), tolerance(one)).worst());
    }
    return " if nothing varied, %.2g as it varies".formatted(worst * RELATIVE);
  }

  private static List<String> inputTypes(Graph graph) {
    return graph.inputs().stream().map(Value::toString).toList();
  }

  private static void record(Node node, List<Tensor> results, Map<String, Tensor> named) {
    if (results.size() == 1) {
      named.put(node.name(), results.getFirst());
    }
  }

  /** Nodes that come from the same ONNX node and have the same type should hold the same values. */
  private static void findDivergence(
      Node node, List<Tensor> results, Map<String, Tensor> named, List<String> diverging) {
    Tensor before = results.size() == 1 ? named.get(node.name()) : null;
    if (diverging.isEmpty()
        && before != null
        && before.type().equals(results.getFirst().type())
        && !Comparison.of(node.name(), before, results.getFirst(), tolerance(before)).passes()) {
      diverging.add(node.toString());
    }
  }

  private static Tolerance tolerance(Tensor expected) {
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      double magnitude = Math.abs(expected.getDouble(i));
      largest = Double.isFinite(magnitude) ? Math.max(largest, magnitude) : largest;
    }
    return new Tolerance(OptionalDouble.of(0), OptionalDouble.of(RELATIVE * largest));
  }
}
