package io.partita.frontend.onnx;

/**
 * A number that the import chose, since the model can't be imported without one.
 *
 * @param isDimension whether it's an extent; else it's the value of an input
 * @param name of the dimension or the input
 * @param reason why this one
 */
public record Choice(boolean isDimension, String name, long number, String reason) {
  /** What a user writes to choose it: {@code --dim height=224}. */
  public String option() {
    return (isDimension ? "--dim " : "--bind ") + name + "=" + number;
  }
}
