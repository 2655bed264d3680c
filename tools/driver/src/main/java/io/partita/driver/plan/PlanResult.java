package io.partita.driver.plan;

import io.partita.ir.graph.Module;
import io.partita.passes.plan.ModelFacts;
import io.partita.passes.plan.SearchResult;
import java.util.List;

/**
 * A plan and how it was found.
 *
 * @param module the model before it was split, its KV cache as state
 * @param remedies what would make it fit; empty where it does
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

  public boolean fits() {
    return search.best().fits();
  }
}
