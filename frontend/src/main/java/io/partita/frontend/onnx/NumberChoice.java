package io.partita.frontend.onnx;

import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Imports a model and chooses the numbers that the import needs and the user doesn't give: images
 * are square, of a size that fits the model's positions, and conditions select the branch that uses
 * more inputs.
 *
 * <p>Numbers are chosen only for dimensions at which the import failed. A number is accepted if the
 * import proceeds further with it; common sizes are tried first.
 */
final class NumberChoice {
  private static final int MAX_SCANNED = 1024;

  /** The total number of nodes that trials of sizes may import. */
  private static final long MAX_TRIED_NODES = 200_000;

  /** The cost of reading the initializers in a trial, in nodes. */
  private static final long TRIAL = 50;

  private final Attempts attempts;
  private final SuggestedValues values;
  private long tried;

  /** Imports a model with some options. */
  interface Attempts {
    Attempt run(ImportOptions options);
  }

  /**
   * An import.
   *
   * @param failure the first failure, if any
   * @param needed the inputs whose values it needs
   */
  record Attempt(ImportResult result, Optional<FirstFailure> failure, Set<String> needed) {
    /** Returns the number of imported nodes. */
    long nodes() {
      return failure
          .map(FirstFailure::nodes)
          .orElseGet(
              () -> result.module().map(module -> (long) module.graph().nodes().size()).orElse(0L));
    }

    boolean gotFurtherThan(Attempt other) {
      return failure.isEmpty()
          || other.failure.isPresent() && failure.get().nodes() > other.failure.get().nodes();
    }
  }

  /**
   * The first failure of an import.
   *
   * @param nodes the number of nodes imported before
   * @param isMisfit whether other extents may fix it
   * @param open the open dimensions of the model's inputs on which its operands depend
   * @param images the open dimensions that are heights or widths of images
   * @param conditions the values of inputs that select branches
   */
  record FirstFailure(
      long nodes,
      boolean isMisfit,
      Set<String> open,
      Set<String> images,
      Map<String, Tensor> conditions) {}

  /** An import with the numbers chosen for it. */
  private record Step(ImportOptions options, List<Choice> choices, Attempt attempt) {
    Optional<FirstFailure> failure() {
      return attempt.failure();
    }

    /** Whether the whole model was imported and is valid with its numbers. */
    boolean isDone() {
      return failure().isEmpty() && attempt.result().module().isPresent() && fits();
    }

    private boolean fits() {
      return options.choice().orElseThrow().test(attempt.result().module().get().graph());
    }

    boolean gotFurtherThan(Step other) {
      return attempt.gotFurtherThan(other.attempt);
    }

    Step with(ImportOptions more, List<Choice> chosen, Attempt next) {
      List<Choice> all = new ArrayList<>(choices);
      all.addAll(chosen);
      return new Step(more, all, next);
    }
  }

  /**
   * @param values the suggested values of inputs
   */
  NumberChoice(Attempts attempts, SuggestedValues values) {
    this.attempts = attempts;
    this.values = values;
  }

  /** Imports with the given numbers, and with others if needed. */
  ImportResult run(ImportOptions options) {
    Step last = completed(new Step(options, List.of(), attempts.run(options)));
    if (last.attempt().result().module().isPresent()) {
      return last.attempt().result().with(last.choices());
    }
    return values
        .suggested(last.attempt(), last.options())
        .with(last.choices().stream().map(NumberChoice::vain).toList());
  }

  private static Choice vain(Choice choice) {
    return choice.isDimension()
        ? new Choice(
            true,
            choice.name(),
            choice.number(),
            "found by trials, because no common size fits the model")
        : choice;
  }

  /** Returns the import that proceeds furthest by choosing numbers at failures. */
  private Step completed(Step first) {
    Step last = first;
    while (last.failure().isPresent()) {
      Optional<Step> next = further(last, last.failure().get());
      if (next.isEmpty()) {
        break;
      }
      last = next.get();
    }
    return last;
  }

  private Optional<Step> further(Step last, FirstFailure failure) {
    if (!failure.conditions().isEmpty()) {
      return branch(failure.conditions(), last);
    }
    if (!failure.images().isEmpty()) {
      return sized(failure.images(), DefaultSizes.IMAGES, last);
    }
    Set<String> lengths = new TreeSet<>(failure.open());
    lengths.removeIf(DefaultSizes::isBatch);
    return lengths.isEmpty()
        ? sized(failure.open(), DefaultSizes.BATCHES, last)
        : sized(lengths, DefaultSizes.LENGTHS, last).or(() -> batch(failure, last));
  }

  private Optional<Step> batch(FirstFailure failure, Step last) {
    Set<String> batches = new TreeSet<>(failure.open());
    batches.removeIf(symbol -> !DefaultSizes.isBatch(symbol));
    return batches.isEmpty() ? Optional.empty() : sized(batches, DefaultSizes.BATCHES, last);
  }

  private Optional<Step> branch(Map<String, Tensor> conditions, Step last) {
    ImportOptions options = last.options();
    List<Choice> choices = new ArrayList<>();
    for (Map.Entry<String, Tensor> condition : conditions.entrySet()) {
      options = options.withValue(condition.getKey(), condition.getValue());
      choices.add(
          new Choice(
              false,
              condition.getKey(),
              condition.getValue().getLong(0),
              "it selects the branch that uses more inputs"));
    }
    return Optional.of(last.with(options, choices, attempts.run(options)));
  }

  /**
   * Returns the first size with which the whole model can be imported, or else with which the
   * import proceeds furthest; all of {@code symbols} get it.
   */
  private Optional<Step> sized(Set<String> symbols, List<Long> usual, Step last) {
    if (symbols.isEmpty()) {
      return Optional.empty();
    }
    Set<Long> sizes = new LinkedHashSet<>(usual);
    if (!usual.equals(DefaultSizes.BATCHES)) {
      scan(sizes);
    }
    Step best = null;
    for (long size : sizes) {
      Step trial = trial(symbols, size, usual.getFirst(), last);
      if (trial.failure().isPresent() && !isAboutSize(trial.failure().get())) {
        trial = completed(trial);
      }
      if (trial.isDone()) {
        return Optional.of(trial);
      }
      if (best == null || best.failure().isPresent() && trial.gotFurtherThan(best)) {
        best = trial;
      }
      boolean mayFit = trial.failure().map(FirstFailure::isMisfit).orElse(true);
      if (!mayFit || tried > MAX_TRIED_NODES) {
        break;
      }
    }
    return Optional.of(best).filter(step -> step.gotFurtherThan(last));
  }

  private Step trial(Set<String> symbols, long size, long first, Step last) {
    ImportOptions options = last.options();
    List<Choice> choices = new ArrayList<>();
    String reason =
        size == first
            ? "the model needs a number, and this is a common one"
            : "the first common size that fits the model";
    for (String symbol : symbols) {
      options = options.withDim(symbol, size);
      choices.add(new Choice(true, symbol, options.dims().get(symbol), reason));
    }
    Attempt attempt = attempts.run(options);
    tried += TRIAL + attempt.nodes();
    return last.with(options, choices, attempt);
  }

  /** Whether another size may fix it: only the batch is open there. */
  private static boolean isAboutSize(FirstFailure failure) {
    return failure.isMisfit() && failure.open().stream().allMatch(DefaultSizes::isBatch);
  }

  /**
   * Returns the sizes to try: round ones first, because windows divide them, and large ones first,
   * because a single position would broadcast.
   */
  private static void scan(Set<Long> sizes) {
    for (long step : new long[] {32, 16, 14, 8, 4, 2, 1}) {
      for (long size = MAX_SCANNED / step * step; size > 0; size -= step) {
        sizes.add(size);
      }
    }
  }
}
