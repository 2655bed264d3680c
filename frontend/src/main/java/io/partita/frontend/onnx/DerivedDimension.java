package io.partita.frontend.onnx;

import io.partita.ir.type.Dim;

/**
 * A dimension of the model's inputs that is determined by others.
 *
 * @param name the symbol that the model declares or, for an extent that it declares as an invalid
 *     expression, a name made of the input and the axis
 * @param extent the extent as an expression of independent dimensions
 * @param requiredBy the node or output that requires it
 * @param declared the invalid expression that the model declares; empty for a plain symbol
 */
public record DerivedDimension(String name, Dim extent, String requiredBy, String declared) {
  /** Returns text such as {@code encoder_sequence_length_out = encoder_sequence_length}. */
  public String equation() {
    return name + " = " + extent;
  }
}
