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
  private static final int LARGEST_SCANNED = 1024;

  /** Nodes that all trials of sizes together may import. */
  private static final long MOST_TRIED_NODES = 200_000;

  /** What a trial without nodes costs, in nodes: initializers are read. */
  private static final long TRIAL = 50;

  private final Attempts attempts;
  private final List<Choice> choices = new ArrayList<>();
  private ImportOptions options;

  /** How a model is imported with some options. */
  interface Attempts {
    Attempt run(ImportOptions options);
  }

  /**
   * An import.
   *
   * @param failure where it first failed; none where it didn't
   */
  record Attempt(ImportResult result, Optional<FirstFailure> failure) {
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

  NumberChoice(ImportOptions options, Attempts attempts) {
    this.options = options;
    this.attempts = attempts;
  }

  ImportResult run() {
    Attempt last = attempts.run(options);
    while (last.failure().isPresent()) {
      Optional<Attempt> next = further(last, last.failure().get());
      if (next.isEmpty()) {
        break;
      }
      last = next.get();
    }
    return last.result().with(choices);
  }

  private Optional<Attempt> further(Attempt last, FirstFailure failure) {
    if (!failure.conditions().isEmpty()) {
      return branch(failure.conditions());
    }
    if (!failure.images().isEmpty()) {
      return sized(failure.images(), UsualSizes.IMAGES, last);
    }
    Set<String> lengths = new TreeSet<>(failure.open());
    lengths.removeIf(UsualSizes::isBatch);
    return lengths.isEmpty()
        ? sized(failure.open(), List.of(1L), last)
        : sized(lengths, UsualSizes.LENGTHS, last).or(() -> batch(failure, last));
  }

  private Optional<Attempt> batch(FirstFailure failure, Attempt last) {
    Set<String> batches = new TreeSet<>(failure.open());
    batches.removeIf(symbol -> !UsualSizes.isBatch(symbol));
    return batches.isEmpty() ? Optional.empty() : sized(batches, List.of(1L), last);
  }

  private Optional<Attempt> branch(Map<String, Tensor> conditions) {
    conditions.forEach(
        (input, value) -> {
          options = options.withValue(input, value);
          choices.add(
              new Choice(
                  false,
                  input,
                  value.getLong(0),
                  "of the two branches, it takes the one that reads more inputs"));
        });
    return Optional.of(attempts.run(options));
  }

  /** The first size with which the import gets further; all of {@code symbols} get it. */
  private Optional<Attempt> sized(Set<String> symbols, List<Long> usual, Attempt last) {
    if (symbols.isEmpty()) {
      return Optional.empty();
    }
    Set<Long> sizes = new LinkedHashSet<>(usual);
    if (usual.size() > 1) {
      scan(sizes);
    }
    Attempt best = null;
    long bestSize = 0;
    long tried = 0;
    for (long size : sizes) {
      Attempt trial = attempts.run(with(symbols, size));
      if (best == null || trial.gotFurtherThan(best)) {
        best = trial;
        bestSize = size;
      }
      tried += TRIAL + trial.failure().map(FirstFailure::nodes).orElse(0L);
      boolean isAboutSize =
          trial
              .failure()
              .filter(FirstFailure::isMisfit)
              .filter(each -> each.open().stream().allMatch(UsualSizes::isBatch))
              .isPresent();
      if (!isAboutSize || tried > MOST_TRIED_NODES) {
        break;
      }
    }
    if (!best.gotFurtherThan(last)) {
      return Optional.empty();
    }
    options = with(symbols, bestSize);
    String reason =
        bestSize == usual.getFirst()
            ? "the model needs a number, and this is usual"
            : "the first of the usual sizes that fits the model";
    symbols.forEach(
        symbol -> choices.add(new Choice(true, symbol, options.dims().get(symbol), reason)));
    return Optional.of(best);
  }

  /**
   * Round sizes first, since windows divide them, and large ones first: a single position would
   * broadcast to any number of them.
   */
  private static void scan(Set<Long> sizes) {
    for (long step : new long[] {32, 16, 14, 8, 4, 2, 1}) {
      for (long size = LARGEST_SCANNED / step * step; size > 0; size -= step) {
        sizes.add(size);
      }
    }
  }

  private ImportOptions with(Set<String> symbols, long size) {
    ImportOptions more = options;
    for (String symbol : symbols) {
      more = more.withDim(symbol, size);
    }
    return more;
  }
}
