package io.partita.passes.graph.state;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
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

  /**
   * Whether one of several new tokens sees one behind it, which isn't in the cache yet when tokens
   * come one by one.
   *
   * @param fresh number of new tokens
   */
  boolean seesLater(long fresh) {
    if (causal || fresh == 1) {
      return false;
    }
    if (!(bias.orElse(null) instanceof Bias.ByPosition(Tensor values))) {
      return true;
    }
    Shape shape = values.shape();
    long rows = shape.extent(3);
    long capacity = shape.extent(4);
    for (int i = 0; i < values.size(); i++) {
      long key = i % capacity;
      long query = i / capacity % rows;
      long first = i / (values.size() / shape.extent(0));
      boolean isLater = key > first + query && key < first + fresh;
      if (isLater && values.getDouble(i) > Double.NEGATIVE_INFINITY) {
        return true;
      }
    }
    return false;
  }

  static MaskForm of(boolean causal, long window) {
    return new MaskForm(causal, window, Optional.empty());
  }
}
