package io.partita.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code partita} command. Each subcommand is a class of its own, listed here. */
@Command(
    name = "partita",
    description = "Compiles an ONNX transformer into programs for many small devices.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    scope = ScopeType.INHERIT,
    sortOptions = false,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:done, and a check failed",
      "2:a mistake in the command line or in its input",
      "70:a bug in Partita"
    },
    subcommands = {
      InspectCommand.class,
      PlanCommand.class,
      CompileCommand.class,
      RunCommand.class,
      GenerateCommand.class,
      CheckCommand.class,
      DiffCommand.class,
      OptCommand.class,
      ZooCommand.class,
      ExplainCommand.class,
      DoctorCommand.class,
      WarmUp.class
    })
final class Main implements Runnable {
  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an internal error.")
  boolean debug;

  @Spec CommandSpec spec;

  /** Without a subcommand there is nothing to do but to say what there is. */
  @Override
  public void run() {
    throw new CommandLine.ParameterException(
        spec.commandLine(),
        "which command? A model becomes a program with: partita compile MODEL.onnx --target java -o DIR");
  }

  /** The command with its error handling, writing to the given streams. */
  static CommandLine commandLine(PrintWriter out, PrintWriter err) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    // Remedies are options to add to a command that may have them already.
    for (String command : List.of("plan", "compile", "check")) {
      line.getSubcommands().get(command).setOverwrittenOptionsAllowed(true);
    }
    return line.setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(new Usage())
        .setExecutionExceptionHandler(new Failures(main));
  }

  public static void main(String[] arguments) {
    // Numbers are written alike everywhere, also in what other programs read.
    Locale.setDefault(Locale.ROOT);
    PrintWriter out = new PrintWriter(System.out, true);
    PrintWriter err = new PrintWriter(System.err, true);
    int exitCode;
    try {
      exitCode = commandLine(out, err).execute(arguments);
    } catch (Error failure) {
      exitCode = Failures.report(failure, err, List.of(arguments).contains("--debug"));
    }
    out.flush();
    err.flush();
    System.exit(exitCode);
  }
}
