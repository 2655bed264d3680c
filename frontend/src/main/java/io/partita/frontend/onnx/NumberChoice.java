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
 * Imports a model for which the user doesn't give all numbers that the import needs, and chooses
 * the others: images are square and of a size that the model's positions fit, and a condition is
 * such that the branch is taken which reads more inputs.
 *
 * <p>A number is only chosen for a dimension at which the import failed. It's right when the import
 * gets further with it: sizes are tried, the usual ones first.
 */
final class NumberChoice {
  private static final int MAX_SCANNED = 1024;

  /** Nodes that all trials of sizes together may import. */
  private static final long MAX_TRIED_NODES = 200_000;

  /** What a trial without nodes costs, in nodes: initializers are read. */
  private static final long TRIAL = 50;

  private final Attempts attempts;
  private final SuggestedValues values;
  private long tried;

  /** How a model is imported with some options. */
  interface Attempts {
    Attempt run(ImportOptions options);
  }

  /**
   * An import.
   *
   * @param failure where it first failed; none where it didn't
   * @param asked inputs whose values it would have to know
   */
  record Attempt(ImportResult result, Optional<FirstFailure> failure, Set<String> asked) {
    /** How many nodes were imported. */
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
   * Where an import first failed.
   *
   * @param nodes that were imported before
   * @param isMisfit whether other extents may mend it
   * @param open dimensions of the model's inputs on which its operands depend, and that aren't
   *     numbers
   * @param images those of them that are the height or width of an image
   * @param conditions value by input, where an input decides which branch is taken
   */
  record FirstFailure(
      long nodes,
      boolean isMisfit,
      Set<String> open,
      Set<String> images,
      Map<String, Tensor> conditions) {}

  /** An import with the numbers that were chosen for it. */
  private record Step(ImportOptions options, List<Choice> choices, Attempt attempt) {
    Optional<FirstFailure> failure() {
      return attempt.failure();
    }

    /** Whether the whole model was imported, and fits its numbers. */
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
   * @param values suggests values of inputs
   */
  NumberChoice(Attempts attempts, SuggestedValues values) {
    this.attempts = attempts;
    this.values = values;
  }

  /** Imports with what is given, and with more where that is needed. */
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
        ? new Choice(true, choice.name(), choice.number(), "tried, as no usual size fits the model")
        : choice;
  }

  /** As far as one gets by choosing numbers where the import fails. */
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
              "of the two branches, it takes the one that reads more inputs"));
    }
    return Optional.of(last.with(options, choices, attempts.run(options)));
  }

  /**
   * The first size with which the whole model can be imported, or else with which the import gets
   * furthest; all of {@code symbols} get it.
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
            ? "the model needs a number, and this is usual"
            : "the first of the usual sizes that fits the model";
    for (String symbol : symbols) {
      options = options.withDim(symbol, size);
      choices.add(new Choice(true, symbol, options.dims().get(symbol), reason));
    }
    Attempt attempt = attempts.run(options);
    tried += TRIAL + attempt.nodes();
    return last.with(options, choices, attempt);
  }

  /** Whether another size may mend it: nothing else but the batch is open there. */
  private static boolean isAboutSize(FirstFailure failure) {
    return failure.isMisfit() && failure.open().stream().allMatch(DefaultSizes::isBatch);
  }

  /**
   * Round sizes first, since windows divide them, and large ones first: a single position would
   * broadcast to any number of them.
   */
  private static void scan(Set<Long> sizes) {
    for (long step : new long[] {32, 16, 14, 8, 4, 2, 1}) {
      for (long size = MAX_SCANNED / step * step; size > 0; size -= step) {
        sizes.add(size);
      }
    }
  }
}
