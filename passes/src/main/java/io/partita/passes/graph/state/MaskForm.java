package io.partita.passes.graph.state;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.Optional;

/**
 * The effect of a mask on the scores of new tokens and all tokens up to the last new one.
 *
 * @param causal whether it hides keys after each query
 * @param window if positive, it also hides keys at this distance or farther before the query
 * @param bias any other bias of the scores
 */
record MaskForm(boolean causal, long window, Optional<Bias> bias) {
  /** A bias of scores, in the shape in which it is stored. */
  sealed interface Bias {
    /** A bias that depends on the key only: {@code [batch or 1, heads or 1, 1, capacity]}. */
    record ByKey(Tensor values) implements Bias {}

    /**
     * A bias that depends on the distance of a key before the query: row {@code distance + later}
     * of {@code values [later + capacity, batch * heads]}.
     *
     * @param values the biases by distance
     * @param later the largest distance of a key after the query
     * @param batch the extent of the batch axis of the bias
     * @param heads the extent of its heads axis
     */
    record ByDistance(Tensor values, long later, long batch, long heads) implements Bias {}

    /**
     * Any other bias, by rows: {@code [positions, batch or 1, heads or 1, n or 1, capacity]},
     * including hidden keys.
     */
    record ByPosition(Tensor values) implements Bias {}
  }

  /**
   * Whether a new token attends to a later one, which isn't in the cache if tokens are given one at
   * a time.
   *
   * @param fresh the number of new tokens
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
