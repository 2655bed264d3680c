package io.partita.cli;

/** The exit codes of the process. */
final class ExitCode {
  static final int DONE = 0;

  /** The command ran, and a check failed. */
  static final int CHECK_FAILED = 1;

  /** A mistake in the command line or in its input, which a diagnostic explains. */
  static final int USER_ERROR = 2;

  /** A bug in Partita; the number is EX_SOFTWARE of BSD's sysexits. */
  static final int INTERNAL_ERROR = 70;

  /** Ended by Ctrl-C, as shells number it. The JVM itself ends with it. */
  static final int INTERRUPTED = 130;

  private ExitCode() {}
}
