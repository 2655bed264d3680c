package io.partita.driver.plan;

import io.partita.driver.Compilation;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.passes.plan.CandidatePlan;
import io.partita.passes.plan.ModelFacts;
import io.partita.passes.plan.PlanSearch;
import io.partita.passes.plan.ProgramPlanner;
import io.partita.passes.plan.SearchResult;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Plans models. */
public final class Planning {
  private final Consumer<Diagnostic> notes;
  private final Consumer<String> progress;
  private final Map<Prepared, Module> modules = new HashMap<>();

  private record Prepared(Compilation.Request model, OptionalLong capacity) {}

  /**
   * @param notes takes what the user should know although it stops nothing
   * @param progress takes what the planning is at
   */
  public Planning(Consumer<Diagnostic> notes, Consumer<String> progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * The best plan, and for a model that doesn't fit what would make it fit.
   *
   * @throws io.partita.ir.diagnostic.PartitaException when the model can't be planned; that it
   *     doesn't fit is in the result
   */
  public PlanResult plan(PlanRequest request) {
    PlanResult found = search(request);
    CandidatePlan best = found.search().best();
    return best.fits() ? found : found.with(new Remedies(this, request, best).find());
  }

  /** As {@link #plan}, without remedies. */
  public PlanResult search(PlanRequest request) {
    List<Integer> counts = request.devices().counts(request.target(), request.strategy());
    Module module = prepared(request);
    SearchResult found = search(request, module).run(counts);
    return new PlanResult(request, module, ModelFacts.of(module.graph()), found, List.of());
  }

  private PlanSearch search(PlanRequest request, Module module) {
    return new PlanSearch(
        module.graph(),
        request.target(),
        request.strategy(),
        request.goal(),
        new ProgramPlanner(module, request.target(), request.options(), request.goal()),
        progress);
  }

  /** The first plan found that fits, which needn't be the best one. */
  Optional<CandidatePlan> fitting(PlanRequest request) {
    List<Integer> counts = request.devices().counts(request.target(), request.strategy());
    return search(request, prepared(request)).firstFit(counts);
  }

  Module prepared(PlanRequest request) {
    Prepared key = new Prepared(request.model(), request.capacity());
    Module known = modules.get(key);
    if (known != null) {
      return known;
    }
    Consumer<Diagnostic> once = modules.isEmpty() ? notes : note -> {};
    Compilation compilation = new Compilation(once, progress);
    Module module =
        request.capacity().isPresent()
            ? compilation.prepare(request.model(), request.capacity().getAsLong())
            : compilation.prepare(request.model());
    modules.put(key, module);
    return module;
  }
}
