package io.partita.maven;

/** The compiler says that something is wrong with what it was given. */
final class CompilerFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param message what is wrong, in lines
   */
  CompilerFailure(String message) {
    super(message);
  }
}
