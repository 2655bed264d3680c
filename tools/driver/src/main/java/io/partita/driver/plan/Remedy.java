package io.partita.driver.plan;

/**
 * A change with which the planned model fits.
 *
 * @param options the options to add to the command
 * @param meaning a description of the change
 */
public record Remedy(String options, String meaning) {
  @Override
  public String toString() {
    return options + " (" + meaning + ")";
  }
}
