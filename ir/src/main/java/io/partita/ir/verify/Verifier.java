package io.partita.ir.verify;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks a module in linear time: names are unique, each value is defined once and before its uses,
 * each result has the inferred type, states connect an input and an output of the same type, and
 * extents are not negative. Then it checks the rules of the mesh dialect.
 */
public final class Verifier {
  private static final int MAX_REPORTED = 100;

  private final List<Diagnostic> violations = new ArrayList<>();
  private final Set<Value> defined = Collections.newSetFromMap(new IdentityHashMap<>());
  private int unreported;

  private Verifier() {}

  /**
   * Checks that the module is valid.
   *
   * @throws PartitaException with all violations, each with a {@link VerifierCode} or, for layouts,
   *     a {@link io.partita.ir.mesh.MeshCode}
   */
  public static void verify(Module module) {
    List<Diagnostic> violations = violations(module);
    if (!violations.isEmpty()) {
      throw new PartitaException(violations);
    }
  }

  /**
   * Returns all violations in the order of the module; after the first hundred only their number.
   */
  public static List<Diagnostic> violations(Module module) {
    Verifier verifier = new Verifier();
    verifier.graph(module.graph());
    verifier.states(module);
    if (verifier.violations.isEmpty()) {
      MeshRules.violations(module).forEach(verifier::report);
    }
    if (verifier.unreported > 0) {
      verifier.violations.add(
          new Diagnostic(
              VerifierCode.MORE,
              "graph " + module.graph().name(),
              "",
              verifier.unreported + " more",
              ""));
    }
    return List.copyOf(verifier.violations);
  }

  private void report(VerifierCode code, String where, String expected, String found) {
    report(new Diagnostic(code, where, expected, found, ""));
  }

  private void report(Diagnostic violation) {
    if (violations.size() == MAX_REPORTED) {
      unreported++;
    } else {
      violations.add(violation);
    }
  }

  private void graph(Graph graph) {
    Set<String> inputNames = new HashSet<>();
    for (Value input : graph.inputs()) {
      String where = "input " + input.name();
      if (!inputNames.add(input.name())) {
        report(VerifierCode.INPUT_NAME, where, "a unique name", input.name());
      }
      if (!input.isInput()) {
        report(VerifierCode.UNDEFINED, where, "an input", "a result of " + input.definition());
      }
      define(input, where);
    }
    for (int i = 0; i < graph.nodes().size(); i++) {
      node(graph.nodes().get(i), "node " + i + ": " + graph.nodes().get(i));
    }
    Set<String> outputNames = new HashSet<>();
    for (Graph.Output output : graph.outputs()) {
      String where = "output " + output.name();
      if (!outputNames.add(output.name())) {
        report(VerifierCode.OUTPUT_NAME, where, "a unique name", output.name());
      }
      requireDefined(output.value(), where);
    }
  }

  private void node(Node node, String where) {
    for (int i = 0; i < node.operands().size(); i++) {
      requireDefined(node.operand(i), where + ", operand " + i);
    }
    List<TensorType> results = node.results().stream().map(Value::type).toList();
    try {
      List<TensorType> derived =
          node.op().resultTypes(node.operands().stream().map(Value::type).toList());
      if (!derived.equals(results)) {
        report(VerifierCode.RESULT_TYPE, where, print(derived), print(results));
      }
    } catch (TypeMismatch e) {
      report(VerifierCode.OPERANDS, where, e.expected(), e.found());
    } catch (ArithmeticException e) {
      report(VerifierCode.OPERANDS, where, "64-bit extents", e.getMessage());
    }
    for (Value result : node.results()) {
      define(result, where);
    }
  }

  private static String print(List<TensorType> types) {
    return String.join(", ", types.stream().map(PirPrinter::print).toList());
  }

  private void define(Value value, String where) {
    if (!defined.add(value)) {
      report(VerifierCode.DUPLICATE, where, "a new value", value.toString());
    }
    for (Dim dim : value.type().shape()) {
      if (dim.isStatic() && dim.value() < 0) {
        report(
            VerifierCode.MALFORMED_TYPE,
            where,
            "extents of 0 or more",
            PirPrinter.print(value.type()));
      }
    }
    for (String symbol : dimSymbols(value)) {
      if (symbol.isBlank()) {
        report(
            VerifierCode.MALFORMED_TYPE,
            where,
            "symbols with a visible name",
            PirPrinter.print(value.type()));
      }
    }
  }

  private static Set<String> dimSymbols(Value value) {
    if (value.type().isStatic()) {
      return Set.of();
    }
    Set<String> symbols = new HashSet<>();
    value.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
    return symbols;
  }

  private void requireDefined(Value value, String where) {
    if (!defined.contains(value)) {
      report(
          VerifierCode.UNDEFINED,
          where,
          "an input of the graph or a result of an earlier node",
          value.toString());
    }
  }

  private void states(Module module) {
    Map<String, TensorType> inputs = new HashMap<>();
    module.graph().inputs().forEach(input -> inputs.putIfAbsent(input.name(), input.type()));
    Map<String, TensorType> outputs = new HashMap<>();
    for (Graph.Output output : module.graph().outputs()) {
      outputs.putIfAbsent(output.name(), output.value().type());
    }
    Set<String> kept = new HashSet<>();
    for (Module.State state : module.states()) {
      String where = "state " + state.input() + " -> " + state.output();
      TensorType before = inputs.get(state.input());
      TensorType after = outputs.get(state.output());
      if (before == null) {
        report(VerifierCode.STATE, where, "the name of an input", state.input());
      }
      if (after == null) {
        report(VerifierCode.STATE, where, "the name of an output", state.output());
      }
      if (!kept.add(state.input())) {
        report(VerifierCode.STATE, where, "each input in at most one state", state.input());
      }
      if (before != null && after != null && !before.equals(after)) {
        report(VerifierCode.STATE_TYPE, where, PirPrinter.print(before), PirPrinter.print(after));
      }
    }
  }
}
