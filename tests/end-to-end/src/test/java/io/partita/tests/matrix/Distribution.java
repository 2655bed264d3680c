package io.partita.tests.matrix;

import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

/** A loaded model and its results on one device, for tests of distributions. */
final class Distribution {
  private final Subject.Loaded loaded;
  private final Map<String, Tensor> inputs = new TreeMap<>();
  private final ReassociationBound bound;
  private final Map<Engine, List<Tensor>> alone = new EnumMap<>(Engine.class);

  Distribution(Subject.Loaded loaded) {
    this.loaded = loaded;
    for (Value input : loaded.module().graph().inputs()) {
      inputs.put(input.name(), loaded.inputs().get(input.index()));
    }
    this.bound = ReassociationBound.of(loaded.module().graph(), loaded.inputs());
  }

  Numbers numbers() {
    return Numbers.of(loaded.module().graph(), bound.hasSteps());
  }

  /** Distributes, verifies, proves, runs and compares. Never throws, but returns failures. */
  Outcome on(Strategy strategy, Engine engine) {
    Outcome outcome = outcome(strategy, engine);
    Optional<String> expected = NotDistributable.code(loaded, strategy);
    return switch (outcome) {
      case Outcome.Agrees agrees when expected.isPresent() ->
          new Outcome.Fails("not refused with " + expected.orElseThrow());
      case Outcome.Refused(var code, var reason) when !expected.equals(Optional.of(code)) ->
          new Outcome.Fails(reason);
      case Outcome.Agrees agrees -> agrees;
      case Outcome.Refused refused -> refused;
      case Outcome.Fails fails -> fails;
    };
  }

  private Outcome outcome(Strategy strategy, Engine engine) {
    try {
      Module sharded = new ShardPass(strategy).run(loaded.module());
      List<Diagnostic> violations = Verifier.violations(sharded);
      if (!violations.isEmpty()) {
        return new Outcome.Fails("verifier: " + line(violations.getFirst()));
      }
      Program program = Localization.of(sharded, Engine.CAPACITY);
      if (program.devices().size() != strategy.devices()) {
        return new Outcome.Fails(program.devices().size() + " devices");
      }
      return compare(alone(engine), engine.run(program, inputs), messages(program));
    } catch (PartitaException told) {
      Diagnostic first = told.diagnostics().getFirst();
      return new Outcome.Refused(first.code().id(), line(first));
    } catch (RuntimeException | AssertionError | StackOverflowError bug) {
      StackTraceElement[] trace = bug.getStackTrace();
      return new Outcome.Fails(bug + (trace.length > 0 ? " at " + trace[0] : ""));
    }
  }

  private static String line(Diagnostic diagnostic) {
    return "%s %s: %s: expected %s, found %s"
        .formatted(
            diagnostic.code().id(),
            diagnostic.code().title(),
            diagnostic.where(),
            diagnostic.expected(),
            diagnostic.found());
  }

  private static long messages(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Communication.Exchange)
        .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
        .filter(step -> step instanceof Step.Send)
        .count();
  }

  private List<Tensor> alone(Engine engine) {
    return engine == Engine.EVALUATOR
        ? bound.outputs()
        : alone.computeIfAbsent(engine, key -> key.alone(loaded.module(), inputs));
  }

  private Outcome compare(List<Tensor> alone, Map<String, Tensor> found, long messages) {
    List<Graph.Output> outputs = loaded.module().graph().outputs();
    double relative = 0;
    double ofBound = 0;
    boolean exact = true;
    for (int i = 0; i < outputs.size(); i++) {
      String name = outputs.get(i).name();
      Tensor expected = alone.get(i);
      if (!found.containsKey(name)) {
        return new Outcome.Fails("output '" + name + "' is missing");
      }
      double allowed = bound.of(i);
      Comparison comparison = compare(name, expected, found.get(name), allowed);
      if (!comparison.passes()) {
        return new Outcome.Fails(comparison.message());
      }
      exact &= expected.equals(found.get(name));
      double largest = largest(expected);
      relative = Math.max(relative, largest == 0 ? 0 : comparison.maxError() / largest);
      ofBound = Math.max(ofBound, allowed == 0 ? 0 : comparison.maxError() / allowed);
    }
    return new Outcome.Agrees(relative, ofBound, exact, messages);
  }

  /** Integers may differ if they depend on floats that may. */
  private static Comparison compare(String name, Tensor expected, Tensor found, double allowed) {
    boolean widened = allowed > 0 && !expected.element().isFloat();
    return Comparison.of(
        name,
        widened ? floats(expected) : expected,
        widened ? floats(found) : found,
        new Tolerance(OptionalDouble.of(0), OptionalDouble.of(allowed)));
  }

  private static Tensor floats(Tensor tensor) {
    return Tensor.ofDoubles(tensor.type().with(ElementType.F64), tensor.doubles());
  }

  private static double largest(Tensor tensor) {
    double largest = 0;
    for (int i = 0; i < tensor.size(); i++) {
      double magnitude = Math.abs(tensor.getDouble(i));
      largest = Double.isFinite(magnitude) ? Math.max(largest, magnitude) : largest;
    }
    return largest;
  }
}
