package io.partita.zoo;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Scaled dot-product attention written out, as PyTorch's "eager" implementation exports.
 *
 * @param heads query heads
 * @param kvHeads key and value heads, a divisor of {@code heads}
 * @param headSize elements of a head
 */
record Attention(int heads, int kvHeads, int headSize) {
  /** The keys and values of all layers after a run, {@code [1, kvHeads, present, headSize]}. */
  record Cache(Attention attention, Sequence sequence, List<String> names, List<String> values) {
    Cache(Attention attention, Sequence sequence) {
      this(attention, sequence, new ArrayList<>(), new ArrayList<>());
    }

    /**
     * Appends the new tokens' keys or values to the cached ones.
     *
     * @param kind {@code key} or {@code value}
     * @param fresh {@code [1, kvHeads, tokens, headSize]}
     */
    String extend(Scope scope, String kind, int layer, String fresh) {
      if (!sequence.decodes()) {
        return fresh;
      }
      String suffix = kind + "_" + layer;
      String past = scope.graph().input("past_" + suffix, OnnxGraph.FLOAT, shape(sequence.past()));
      String present = scope.concat(2, past, fresh);
      names.add("present_" + suffix);
      values.add(present);
      return present;
    }

    /** Makes the caches graph outputs. */
    void output(OnnxGraph graph) {
      for (int i = 0; i < names.size(); i++) {
        graph.output(names.get(i), values.get(i), shape(sequence.present()));
      }
    }

    private Dim[] shape(Dim length) {
      return new Dim[] {Dim.of(1), Dim.of(attention.kvHeads), length, Dim.of(attention.headSize)};
    }
  }

  /** {@code [1, tokens, count * headSize]} to {@code [1, count, tokens, headSize]}. */
  String split(Scope scope, String x, int count, long tokens) {
    return scope.transpose(scope.reshape(x, 1, tokens, count, headSize), 0, 2, 1, 3);
  }

  /**
   * {@code softmax(q k^T / sqrt(headSize) + mask) v}.
   *
   * @param query {@code [1, heads, tokens, headSize]}
   * @param key {@code [1, kvHeads, present, headSize]}, and so is {@code value}
   * @param tokens the number of new tokens, -1 if dynamic
   * @return {@code [1, tokens, heads * headSize]}
   */
  String attend(
      Scope scope, String query, String key, String value, Optional<String> mask, long tokens) {
    OnnxGraph graph = scope.graph();
    String keys = scope.transpose(repeat(scope, key), 0, 1, 3, 2);
    String values = repeat(scope, value);
    String factor = graph.constant((float) (1 / StrictMath.sqrt(headSize)));
    String scaled = scope.mul(scope.matMul(query, keys), factor);
    String scores = mask.map(hidden -> scope.add(scaled, hidden)).orElse(scaled);
    String mixed = scope.matMul(scope.softmax(scores), values);
    return scope.reshape(scope.transpose(mixed, 0, 2, 1, 3), 1, tokens, (long) heads * headSize);
  }

  /** Repeats each key or value head for the query heads that share it. */
  private String repeat(Scope scope, String x) {
    if (kvHeads == heads) {
      return x;
    }
    String shape = scope.graph().vector(1, 1, heads / kvHeads, 1, 1);
    String copies = scope.op("Expand", scope.unsqueeze(x, 2), shape);
    return scope.reshape(copies, 1, heads, -1, headSize);
  }
}
