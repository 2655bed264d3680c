package io.partita.driver;

import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.RewrittenModel;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.stage.Stage;
import io.partita.ir.stage.Staged;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.passes.Pass;
import io.partita.passes.PassCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Evaluates a model before and after a pass on the same seeded inputs, by the reference semantics
 * of each stage, and compares. A pass that changes the inputs (by giving a module state) can't be
 * compared, which is reported.
 */
public final class NumericVerification {
  /**
   * Relative to the largest value of the tensor: passes may reassociate float sums, whose error
   * grows with the number of terms n as n·2^-24; 1e-4 is that for n = 1600. Kernel functions that
   * aren't exact stay within it too.
   */
  private static final double RELATIVE = 1e-4;

  /** The tolerance of 16-bit floats, in half units in the last place of the largest value. */
  private static final double ROUNDINGS = 4;

  private final long seed;

  public NumericVerification(long seed) {
    this.seed = seed;
  }

  /**
   * Returns one line with the difference of the results. Symbols get default values.
   *
   * @throws PartitaException if they differ by more than the tolerance; it names the first node
   *     that differs if both are modules. Also if a device breaks a rule
   */
  public String check(Pass<?, ?> pass, Staged<?> before, Staged<?> after) {
    Map<String, Dim> numbers =
        before.at(Stage.MODULE).map(NumericVerification::numbers).orElse(Map.of());
    String line = checkBound(pass, bind(before, numbers), bind(after, numbers));
    return numbers.isEmpty() ? line : line + ", with " + assigned(numbers);
  }

  private String checkBound(Pass<?, ?> pass, Staged<?> before, Staged<?> after) {
    Optional<Module> source = before.at(Stage.MODULE);
    Optional<Module> result = after.at(Stage.MODULE);
    String changed = "verify " + pass.name() + ": the pass changes the inputs; not compared";
    if (source.isPresent() && result.isPresent()) {
      return inputTypes(source.get().graph()).equals(inputTypes(result.get().graph()))
          ? check(pass, source.get(), result.get())
          : changed;
    }
    Map<String, Tensor> inputs = inputs(before, after);
    Map<String, Tensor> found = after.evaluate(inputs);
    double worst = compare(pass, before.evaluate(inputs), found, List.of());
    return same(pass, worst);
  }

  /**
   * Evaluates a single model; returns a line for each output.
   *
   * @throws PartitaException if it is invalid, or a device breaks a rule
   */
  public List<String> run(Staged<?> model) {
    List<Diagnostic> violations = model.violations();
    if (!violations.isEmpty()) {
      throw new PartitaException(violations);
    }
    Map<String, Dim> numbers =
        model.at(Stage.MODULE).map(NumericVerification::numbers).orElse(Map.of());
    Staged<?> bound = bind(model, numbers);
    List<String> lines = new ArrayList<>();
    bound
        .evaluate(inputs(bound, bound))
        .forEach((name, tensor) -> lines.add("evaluated " + name + ": " + tensor));
    return lines;
  }

  /** Default values for the symbols of a module; symbols without one become 1. */
  private static Map<String, Dim> numbers(Module module) {
    Map<String, Long> chosen =
        new DefaultExtents(module.graph(), DecoderDimensions.of(module).tokens(), note -> {})
            .choose(Map.of(), Set.of());
    Map<String, Dim> numbers = new TreeMap<>();
    for (String symbol : module.graph().symbols()) {
      numbers.put(symbol, Dim.of(chosen.getOrDefault(symbol, 1L)));
    }
    return numbers;
  }

  private static Staged<?> bind(Staged<?> model, Map<String, Dim> numbers) {
    Optional<Module> module = model.at(Stage.MODULE);
    if (numbers.isEmpty() || module.isEmpty()) {
      return model;
    }
    try {
      return Staged.of(DimensionBinding.bind(module.get(), numbers));
    } catch (TypeMismatch mismatch) {
      throw new PartitaException(
          PassCode.SYMBOLIC_DIMENSION,
          "symbols of the module",
          "numbers, so that it can be evaluated; of "
              + assigned(numbers)
              + ", "
              + mismatch.expected(),
          mismatch.found(),
          "give other numbers, such as --dim " + numbers.keySet().iterator().next() + "=N");
    }
  }

  private static String assigned(Map<String, Dim> numbers) {
    return numbers.entrySet().stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  /** The states of a schedule are zero before the run. */
  private Map<String, Tensor> inputs(Staged<?> before, Staged<?> after) {
    Map<String, Tensor> inputs = SeededInputs.of(before.inputs(), seed);
    if (after.at(Stage.SCHEDULE).isPresent()) {
      for (String state : before.states()) {
        inputs.computeIfPresent(state, (name, seeded) -> Tensor.filled(seeded.type(), 0));
      }
    }
    return inputs;
  }

  private String check(Pass<?, ?> pass, Module before, Module after) {
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
    double worst = compare(pass, named(before, expected), named(before, found), diverging);
    String same = same(pass, worst);
    return RewrittenModel.of(after).isPresent() ? same + onDevices(before, after) : same;
  }

  private static String same(Pass<?, ?> pass, double worst) {
    return "verify %s: same results (largest relative difference %.2g)"
        .formatted(pass.name(), worst);
  }

  private static Map<String, Tensor> named(Module module, List<Tensor> outputs) {
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < outputs.size(); i++) {
      named.put(module.graph().outputs().get(i).name(), outputs.get(i));
    }
    return named;
  }

  /**
   * The largest difference, relative to the largest value. Missing outputs, such as states, aren't
   * compared.
   */
  private double compare(
      Pass<?, ?> pass,
      Map<String, Tensor> expected,
      Map<String, Tensor> found,
      List<String> diverging) {
    double worst = 0;
    for (Map.Entry<String, Tensor> each : expected.entrySet()) {
      Tensor result = found.get(each.getKey());
      if (result == null) {
        continue;
      }
      Tensor wanted = each.getValue();
      Comparison comparison = Comparison.of(each.getKey(), wanted, result, tolerance(wanted));
      if (!comparison.passes()) {
        throw new PartitaException(
            PassCode.CHANGED_MEANING,
            "pass "
                + pass.name()
                + ", seed "
                + seed
                + (diverging.isEmpty() ? "" : ", first at " + diverging.getFirst()),
            "results within " + relative(wanted) + " of the largest value",
            comparison.message(),
            "report this as a bug in Partita, with the model");
      }
      worst = Math.max(worst, comparison.worst() * relative(wanted));
    }
    return worst;
  }

  /** Varying and encoded values are single values in the evaluation of whole values. */
  private String onDevices(Module before, Module after) {
    Map<String, Tensor> inputs = SeededInputs.of(Stage.MODULE.inputs(before), seed);
    Map<String, Tensor> found = Stage.MODULE.evaluate(after, inputs);
    double worst = 0;
    for (Map.Entry<String, Tensor> each : Stage.MODULE.evaluate(before, inputs).entrySet()) {
      Tensor one = each.getValue();
      Comparison comparison = Comparison.of("", one, found.get(each.getKey()), tolerance(one));
      worst = Math.max(worst, comparison.worst() * relative(one));
    }
    return " on whole values, %.2g as devices compute it".formatted(worst);
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

  /** Passes may round 16-bit floats less often than separate operations do. */
  private static double relative(Tensor expected) {
    return switch (expected.type().element()) {
      case F16 -> ROUNDINGS * 0x1p-11;
      case BF16 -> ROUNDINGS * 0x1p-8;
      default -> RELATIVE;
    };
  }

  private static Tolerance tolerance(Tensor expected) {
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      double magnitude = Math.abs(expected.getDouble(i));
      largest = Double.isFinite(magnitude) ? Math.max(largest, magnitude) : largest;
    }
    return new Tolerance(OptionalDouble.of(0), OptionalDouble.of(relative(expected) * largest));
  }
}
