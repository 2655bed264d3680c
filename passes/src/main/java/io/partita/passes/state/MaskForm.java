package io.partita.passes.state;

import io.partita.ir.tensor.Tensor;
import java.util.Optional;

/**
 * What a mask does to the scores of new tokens and of all tokens up to the last of them.
 *
 * @param causal hides keys behind each query
 * @param window when positive, also hides keys so many or more before the query
 * @param bias what else is added to the scores; none when nothing is
 */
record MaskForm(boolean causal, long window, Optional<Bias> bias) {
  /** What is added to scores, in the shape in which it's stored. */
  sealed interface Bias {
    /** Depends on the key only: {@code [batch or 1, heads or 1, 1, capacity]}. */
    record ByKey(Tensor values) implements Bias {}

    /**
     * Depends on how far a key stands before the query: row {@code distance + later} of {@code
     * values [later + capacity, batch * heads]}.
     *
     * @param values by distance
     * @param later the largest distance of a key behind the query
     * @param batch extent of the batch axis of the bias
     * @param heads extent of its heads axis
     */
    record ByDistance(Tensor values, long later, long batch, long heads) implements Bias {}

    /**
     * Whatever else, row by row: {@code [positions, batch or 1, heads or 1, n or 1, capacity]},
     * which also holds what is hidden.
     */
    record ByPosition(Tensor values) implements Bias {}
  }

  static MaskForm of(boolean causal, long window) {
    return new MaskForm(causal, window, Optional.empty());
  }
}
