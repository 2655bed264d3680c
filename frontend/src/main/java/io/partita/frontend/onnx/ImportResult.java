package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The result of an import.
 *
 * @param module the graph; empty if there are diagnostics
 * @param diagnostics all errors, in the order of the nodes
 * @param unsupported all unsupported nodes
 * @param constantInputs the graph inputs that became constants because of a bound or recorded value
 * @param symbols the declared dimensions of the model's inputs
 * @param derived the dimensions that others determine, in the order of their derivation
 * @param choices the numbers that the import chose
 */
public record ImportResult(
    Optional<Module> module,
    List<Diagnostic> diagnostics,
    List<UnsupportedNode> unsupported,
    SortedSet<String> constantInputs,
    SortedSet<String> symbols,
    List<DerivedDimension> derived,
    List<Choice> choices) {
  private static final int MAX_REPORTED = 50;

  public ImportResult {
    diagnostics = List.copyOf(diagnostics);
    unsupported = List.copyOf(unsupported);
    constantInputs = new TreeSet<>(constantInputs);
    symbols = new TreeSet<>(symbols);
    derived = List.copyOf(derived);
    choices = List.copyOf(choices);
  }

  ImportResult with(List<Choice> chosen) {
    return new ImportResult(
        module, diagnostics, unsupported, constantInputs, symbols, derived, chosen);
  }

  /** Returns a copy with other diagnostics and without a module. */
  public ImportResult refused(List<Diagnostic> why) {
    return new ImportResult(
        Optional.empty(), why, unsupported, constantInputs, symbols, derived, choices);
  }

  /** Returns the symbol of a dimension by its name in the model. */
  public String symbol(String name) {
    return symbols.contains(name) ? name : DimExpression.symbol(name);
  }

  /**
   * @throws PartitaException with all errors, if there are any
   */
  public Module orThrow() {
    if (module.isPresent()) {
      return module.get();
    }
    List<Diagnostic> reported =
        new ArrayList<>(diagnostics.subList(0, Math.min(MAX_REPORTED, diagnostics.size())));
    if (diagnostics.size() > MAX_REPORTED) {
      reported.add(
          new Diagnostic(
              ImportCode.MORE,
              "",
              "",
              (diagnostics.size() - MAX_REPORTED) + " more like these",
              "partita inspect lists every unsupported node"));
    }
    throw new PartitaException(reported);
  }
}
