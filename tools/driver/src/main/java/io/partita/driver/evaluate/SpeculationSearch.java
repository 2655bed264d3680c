package io.partita.driver.evaluate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;
import io.partita.passes.graph.speculate.Speculation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Measures thresholds of a speculation on attention: all of them, or those that lead to the largest
 * one with which the metric stays within a loss budget. Loss grows with the threshold, so they are
 * bisected.
 */
public final class SpeculationSearch {
  /** The thresholds, from the range in which section 5 of the paper finds quality unharmed. */
  public static final List<Double> LAMBDAS = List.of(0.05, 0.1, 0.15, 0.2, 0.25);

  /** A measured threshold. */
  public record Tried(double lambda, SpeculationEvaluation.Result result, double loss) {}

  /**
   * The result of a search.
   *
   * @param exact the metric without speculation
   * @param tried the measured thresholds, in this order
   * @param chosen the largest one within the budget; empty without one, or if all lose more
   */
  public record Result(Evaluation.Result exact, List<Tried> tried, Optional<Tried> chosen) {
    public Result {
      tried = List.copyOf(tried);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public SpeculationSearch(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @param chunk the number of tokens in a chunk
   * @param maxLoss the largest allowed loss relative to the exact metric, such as 0.01
   * @throws io.partita.ir.diagnostic.PartitaException as {@link SpeculationEvaluation#run}
   */
  public Result run(Evaluation.Request request, long chunk, double maxLoss) {
    Evaluation.Result exact = new Evaluation(notes, progress).run(request);
    List<Tried> tried = new ArrayList<>();
    Optional<Tried> chosen = Optional.empty();
    int from = 0;
    int to = LAMBDAS.size();
    while (from < to) {
      int middle = (from + to) / 2;
      Tried one = tried(request, new Speculation(LAMBDAS.get(middle), chunk), exact);
      tried.add(one);
      if (one.loss() <= maxLoss) {
        chosen = Optional.of(one);
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return new Result(exact, tried, chosen);
  }

  /**
   * Measures all thresholds.
   *
   * @param chunk the number of tokens in a chunk
   * @throws io.partita.ir.diagnostic.PartitaException as {@link SpeculationEvaluation#run}
   */
  public Result sweep(Evaluation.Request request, long chunk) {
    Evaluation.Result exact = new Evaluation(notes, progress).run(request);
    List<Tried> tried =
        LAMBDAS.stream()
            .map(lambda -> tried(request, new Speculation(lambda, chunk), exact))
            .toList();
    return new Result(exact, tried, Optional.empty());
  }

  private Tried tried(Evaluation.Request request, Speculation options, Evaluation.Result exact) {
    SpeculationEvaluation.Result result =
        new SpeculationEvaluation(notes, progress).run(request, options);
    double change = result.evaluation().value() / exact.value() - 1;
    return new Tried(options.lambda(), result, exact.isLargerBetter() ? -change : change);
  }
}
