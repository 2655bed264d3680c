package io.partita.cli;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Turns what a command throws into a message and an exit code. */
final class Failures implements IExecutionExceptionHandler {
  private final Main main;

  Failures(Main main) {
    this.main = main;
  }

  @Override
  public int handleExecutionException(
      Exception exception, CommandLine command, ParseResult arguments) {
    PrintWriter err = main.spec.commandLine().getErr();
    err.println("internal error: " + exception);
    err.println("this is a bug in Partita" + (main.debug ? ":" : "; --debug shows where"));
    if (main.debug) {
      exception.printStackTrace(err);
    }
    return ExitCode.INTERNAL_ERROR;
  }
}
