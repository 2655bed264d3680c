package io.partita.frontend.onnx;

import io.partita.ir.type.Dim;

/**
 * A dimension of the model's inputs that follows from others.
 *
 * @param name the symbol that the model declares; for an extent that it declares as an expression
 *     that is untrue, a name made of the input and the axis
 * @param extent what it is, in terms of numbers and of dimensions that don't follow from others
 * @param requiredBy the node or output that requires it
 * @param declared the untrue expression that the model declares; empty for a plain symbol
 */
public record DerivedDimension(String name, Dim extent, String requiredBy, String declared) {
  /** {@code encoder_sequence_length_out = encoder_sequence_length}. */
  public String equation() {
    return name + " = " + extent;
  }
}
