package io.partita.cli;

import io.partita.driver.MemoryLimit;
import io.partita.ir.diagnostic.PartitaException;
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
    return report(exception, main.spec.commandLine().getErr(), main.debug);
  }

  static int report(Throwable failure, PrintWriter err, boolean debug) {
    if (debug) {
      failure.printStackTrace(err);
    }
    if (failure instanceof PartitaException told) {
      told.diagnostics().forEach(err::println);
      return ExitCode.USER_ERROR;
    }
    if (failure instanceof OutOfMemoryError) {
      err.println(MemoryLimit.diagnostic("this run of partita"));
      return ExitCode.USER_ERROR;
    }
    err.println("internal error: " + failure);
    err.println("this is a bug in Partita" + (debug ? "" : "; --debug shows where"));
    return ExitCode.INTERNAL_ERROR;
  }
}
