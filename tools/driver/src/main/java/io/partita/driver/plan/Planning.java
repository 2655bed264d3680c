package io.partita.driver.plan;

import io.partita.driver.Compilation;
import io.partita.driver.Entries;
import io.partita.driver.Preparation;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.PlanSearch;
import io.partita.passes.planning.search.ProgramPlanner;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Plans models. */
public final class Planning {
  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;
  private final Map<Prepared, Entries> models = new HashMap<>();

  private record Prepared(Compilation.Request model, OptionalLong capacity) {}

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Planning(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * Returns the best plan, and for a model that doesn't fit, remedies.
   *
   * @throws io.partita.ir.diagnostic.PartitaException if the model can't be planned; a model that
   *     doesn't fit is a result
   */
  public PlanResult plan(PlanRequest request) {
    PlanResult found = search(request);
    CandidatePlan best = found.search().best();
    return best.fits() ? found : found.with(new Remedies(this, request, best).find());
  }

  /** Like {@link #plan}, without remedies. */
  public PlanResult search(PlanRequest request) {
    List<Integer> counts = request.devices().counts(request.target(), request.strategy());
    Module module = prepared(request);
    PlanSearch search = search(request, module);
    return new PlanResult(request, module, search.facts(), search.run(counts), List.of());
  }

  private PlanSearch search(PlanRequest request, Module module) {
    return new PlanSearch(
        module.graph(),
        request.target(),
        request.weights(),
        request.strategy(),
        request.goal(),
        new ProgramPlanner(
            module,
            request.target(),
            request.options(),
            request.goal(),
            request.syncs(),
            request.speculation()),
        progress);
  }

  /** Returns the first plan found that fits, which need not be the best one. */
  Optional<CandidatePlan> fitting(PlanRequest request) {
    List<Integer> counts = request.devices().counts(request.target(), request.strategy());
    return search(request, prepared(request)).firstFit(counts);
  }

  /**
   * Returns the entry points of the model on the devices of the best plan, with an algorithm for
   * each sync; without a mesh if one device is best. The entry point for a chunk is split like that
   * for a token, so that both use the same cache.
   */
  public Entries entries(PlanResult planned) {
    Entries whole = entries(planned.request());
    CandidatePlan best = planned.search().best();
    if (best.devices() == 1) {
      return whole;
    }
    return new Entries(
        best.module(), whole.chunk().map(chunk -> split(chunk, planned.request(), best)));
  }

  private Module split(Module chunk, PlanRequest request, CandidatePlan best) {
    progress.step("planning " + best.strategy() + " for several tokens");
    ProgramPlanner planner =
        new ProgramPlanner(
            chunk, request.target(), request.options(), request.goal(), request.syncs());
    return planner.overlapped(planner.plan(best.strategy())).module();
  }

  Module prepared(PlanRequest request) {
    return entries(request).step();
  }

  private Entries entries(PlanRequest request) {
    Prepared key = new Prepared(request.model(), request.capacity());
    Entries known = models.get(key);
    if (known != null) {
      return known;
    }
    Consumer<Diagnostic> once = models.isEmpty() ? notes : note -> {};
    Preparation preparation = new Preparation(once, progress);
    Entries entries =
        request.capacity().isPresent()
            ? preparation.prepareEntries(request.model(), request.capacity().getAsLong())
            : preparation.prepareEntries(request.model());
    models.put(key, entries);
    return entries;
  }
}
