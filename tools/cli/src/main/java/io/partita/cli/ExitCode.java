package io.partita.cli;

/** What the process tells its caller. */
final class ExitCode {
  static final int DONE = 0;

  /** The command did its work, and what it checked failed. */
  static final int CHECK_FAILED = 1;

  /** A mistake in the command line or in its input: a diagnostic says which. */
  static final int USER_ERROR = 2;

  /** A bug of ours; the number is EX_SOFTWARE of BSD's sysexits. */
  static final int INTERNAL_ERROR = 70;

  private ExitCode() {}
}
