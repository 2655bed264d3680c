package io.partita.maven;

/** The compiler reported a mistake in its input. */
final class CompilerFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param message the problem, in lines
   */
  CompilerFailure(String message) {
    super(message);
  }
}
