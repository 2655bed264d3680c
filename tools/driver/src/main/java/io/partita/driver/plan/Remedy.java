package io.partita.driver.plan;

/**
 * A change with which the model was planned again, and fits.
 *
 * @param options to add to the command
 * @param meaning what they change, in words
 */
public record Remedy(String options, String meaning) {
  @Override
  public String toString() {
    return options + " (" + meaning + ")";
  }
}
