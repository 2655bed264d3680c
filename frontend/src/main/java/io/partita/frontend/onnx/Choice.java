package io.partita.frontend.onnx;

/**
 * A number that the import chose because the model needs one.
 *
 * @param isDimension whether it is an extent, not the value of an input
 * @param name the name of the dimension or the input
 * @param reason the reason for this number
 */
public record Choice(boolean isDimension, String name, long number, String reason) {
  /** Returns the option that sets it, such as {@code --dim height=224}. */
  public String option() {
    return (isDimension ? "--dim " : "--bind ") + name + "=" + number;
  }
}
