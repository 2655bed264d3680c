package io.partita.driver;

/** Options contradict each other. The message names them as the command line does. */
public final class ConflictingOptions extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ConflictingOptions(String message) {
    super(message);
  }
}
