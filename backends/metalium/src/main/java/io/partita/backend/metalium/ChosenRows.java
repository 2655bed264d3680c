package io.partita.backend.metalium;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Some rows of a matrix, in order.
 *
 * @param runs of rows that follow each other
 */
record ChosenRows(List<Run> runs) {
  /** Rows from a number on. */
  record Run(long start, long count) {}

  ChosenRows {
    runs = List.copyOf(runs);
  }

  long count() {
    return runs.stream().mapToLong(Run::count).sum();
  }

  static ChosenRows of(long row) {
    return new ChosenRows(List.of(new Run(row, 1)));
  }

  /** Whether each row of a constant mask has a key that takes part. */
  static boolean hasKeys(Value mask) {
    Tensor flags = Matrices.constant(mask).orElseThrow();
    int keys = Math.toIntExact(Matrices.columns(mask.type()));
    return IntStream.range(0, flags.size() / keys)
        .allMatch(row -> IntStream.range(row * keys, (row + 1) * keys).anyMatch(flags::getBoolean));
  }

  /**
   * The keys of an attention of which a constant mask hides the others from all queries, such as
   * the class tokens of other chips. Attention without these keys is the same. Empty if the mask
   * isn't such a one, or keys count by their place.
   */
  static Optional<ChosenRows> ofKeys(Structured.Attention attention, Value mask) {
    Optional<Tensor> constant = Matrices.constant(mask);
    boolean isPlain = !attention.causal() && attention.window() == 0 && !attention.keyLength();
    if (!isPlain || mask.type().element() != ElementType.BOOL || constant.isEmpty()) {
      return Optional.empty();
    }
    Tensor flags = constant.get();
    int keys = Math.toIntExact(Matrices.columns(mask.type()));
    List<Run> runs = new ArrayList<>();
    for (int key = 0; key < keys; key++) {
      for (int i = key; i < flags.size(); i += keys) {
        if (flags.getBoolean(i) != flags.getBoolean(key)) {
          return Optional.empty();
        }
      }
      if (flags.getBoolean(key)) {
        boolean isNext = key > 0 && flags.getBoolean(key - 1);
        Run last = isNext ? runs.removeLast() : new Run(key, 0);
        runs.add(new Run(last.start, last.count + 1));
      }
    }
    return runs.isEmpty() ? Optional.empty() : Optional.of(new ChosenRows(runs));
  }
}
