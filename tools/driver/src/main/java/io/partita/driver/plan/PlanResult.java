package io.partita.driver.plan;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.passes.planning.search.ModelFacts;
import io.partita.passes.planning.search.SearchResult;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A plan and the search that found it.
 *
 * @param module the model before it was split, its KV cache as state
 * @param remedies changes that would make it fit; empty if it does
 */
public record PlanResult(
    PlanRequest request,
    Module module,
    ModelFacts facts,
    SearchResult search,
    List<Remedy> remedies) {
  public PlanResult {
    remedies = List.copyOf(remedies);
  }

  PlanResult with(List<Remedy> found) {
    return new PlanResult(request, module, facts, search, found);
  }

  public boolean fits() {
    return search.best().fits();
  }

  /**
   * The diagnostic of a plan that doesn't fit: the memory with the largest shortage, and remedies.
   */
  public Diagnostic shortage() {
    String fix =
        remedies.isEmpty()
            ? "none was found: use a smaller model, or devices with more memory"
            : "add " + remedies.stream().map(Remedy::options).collect(Collectors.joining("; or "));
    return search.best().worst().diagnostic(fix);
  }
}
