package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.simplify.SimplifyPass;
import io.partita.passes.graph.speculate.SpeculateAttention;
import io.partita.passes.graph.speculate.Speculation;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Measures a model that continues with approximate attentions where they are close enough. Exact
 * attentions are computed as well, as in the evaluation of "Attention-Level Speculation", so this
 * measures quality and hits, and not speed.
 */
public final class SpeculationEvaluation {
  /** The measured quality, and how often the approximation was accepted. */
  public record Result(Evaluation.Result evaluation, SpeculationHits hits) {}

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public SpeculationEvaluation(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException as {@link Evaluation#run}, or with {@link
   *     io.partita.passes.graph.speculate.SpeculationCode}
   */
  public Result run(Evaluation.Request request, Speculation options) {
    Module exact =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(notes, progress)::prepare);
    Pipeline passes =
        new Pipeline(List.of(new SpeculateAttention(options, true), new SimplifyPass()));
    Module speculating = passes.run(exact, (pass, before, after) -> progress.step(pass.purpose()));
    Module placed =
        request.sharding().map(sharding -> sharding.run(speculating)).orElse(speculating);
    AtomicReference<SpeculationHits> hits = new AtomicReference<>();
    Evaluation.Result result =
        new Evaluation(notes, progress)
            .run(
                request,
                placed,
                program -> {
                  hits.set(new SpeculationHits(program));
                  return hits.get();
                });
    return new Result(result, hits.get());
  }
}
