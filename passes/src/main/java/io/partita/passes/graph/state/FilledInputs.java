package io.partita.passes.graph.state;

import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Inputs that are determined by the position, because all tokens of a decoder are real: masks of
 * past and new tokens are ones, and positions increase by one.
 */
final class FilledInputs {
  private enum Kind {
    ONES,
    POSITIONS
  }

  private final Map<Value, Kind> kinds = new IdentityHashMap<>();

  /**
   * @param caches the inputs of keys and values
   * @param past the symbol of the length of the past
   */
  FilledInputs(List<Value> inputs, Set<Value> caches, String past) {
    for (Value input : inputs) {
      boolean isOpen =
          input.type().shape().dims().stream().anyMatch(dim -> dim.symbols().contains(past));
      if (isOpen && !caches.contains(input) && input.type().rank() <= 2) {
        kinds.put(input, Kind.ONES);
      } else if (!isOpen && Position.isPosition(input)) {
        kinds.put(input, Kind.POSITIONS);
      }
    }
  }

  boolean contains(Value input) {
    return kinds.containsKey(input);
  }

  /** Whether the input is a mask of ones. */
  boolean isMask(Value input) {
    return kinds.get(input) == Kind.ONES;
  }

  /** Returns the value of the input if the first new token has this position. */
  Tensor at(Value input, TensorType type, long position) {
    return isMask(input) ? Tensor.filled(type, 1) : positions(type, position);
  }

  /** Returns increasing positions, which begin at the same one in each sequence. */
  static Tensor positions(TensorType type, long first) {
    Shape shape = type.shape();
    long last = shape.rank() == 2 ? shape.extent(1) : 1;
    long[] positions = new long[Math.toIntExact(shape.elements())];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = first + i % last;
    }
    return Tensor.ofLongs(type, positions);
  }
}
