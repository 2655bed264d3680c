package io.partita.cli;

import io.partita.driver.MemoryLimit;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.ShutdownGuard;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Turns exceptions of a command into a message and an exit code. */
final class Failures implements IExecutionExceptionHandler {
  private final Main main;

  Failures(Main main) {
    this.main = main;
  }

  /** What fails while the process ends, fails because of that: whoever pressed Ctrl-C knows. */
  @Override
  public int handleExecutionException(
      Exception exception, CommandLine command, ParseResult arguments) {
    if (ShutdownGuard.isEnding()) {
      return ExitCode.INTERRUPTED;
    }
    CommandLine top = main.spec.commandLine();
    int exitCode = report(exception, top.getErr(), main.debug);
    if (command.getParseResult().hasMatchedOption("--json")) {
      top.getOut().println(json(exception, exitCode));
    }
    return exitCode;
  }

  static String json(Throwable failure, int exitCode) {
    return switch (failure) {
      case PartitaException told -> Json.failure(exitCode, "", told.diagnostics());
      case OutOfMemoryError full -> Json.failure(exitCode, "", List.of(fullMemory()));
      default -> Json.failure(exitCode, failure.toString(), List.of());
    };
  }

  private static Diagnostic fullMemory() {
    return MemoryLimit.diagnostic("this run of partita");
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
      err.println(fullMemory());
      return ExitCode.USER_ERROR;
    }
    err.println("internal error: " + failure);
    err.println("this is a bug in Partita" + (debug ? "" : "; --debug shows where"));
    return ExitCode.INTERNAL_ERROR;
  }
}
