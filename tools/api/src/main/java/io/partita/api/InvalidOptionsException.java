package io.partita.api;

/** Options contradict each other. The message names them as the command line does. */
public final class InvalidOptionsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  InvalidOptionsException(String message) {
    super(message);
  }
}
