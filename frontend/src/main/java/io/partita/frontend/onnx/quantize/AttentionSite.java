package io.partita.frontend.onnx.quantize;

import java.util.List;
import java.util.Optional;

/**
 * An attention of an ONNX graph: the product of queries and keys, a softmax, and the product with
 * the values.
 *
 * @param name the name of the second product, or of its result if it has none
 * @param output the result of the second product, {@code [..., seq, features]}
 * @param probabilities the left operand of the second product, {@code [..., seq, keys]}
 */
public record AttentionSite(
    String name, String output, Use query, Use key, Use value, Use probabilities) {
  /**
   * The place where a value is read, before it is moved to where the product needs it.
   *
   * @param node the index of the node that reads it
   * @param operand the number of the operand
   * @param cache the cache that it is appended to by this node, if there is one
   */
  public record Use(String value, int node, int operand, Optional<Cache> cache) {}

  /**
   * A cache of keys or values that comes from an input and leaves by an output.
   *
   * @param past the input
   * @param present the output, the concatenation of the input and the new value
   */
  public record Cache(String past, String present) {}

  /** The operands whose ranges must be measured. */
  public List<Use> measured() {
    return List.of(query, key, value);
  }
}
