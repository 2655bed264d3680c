package io.partita.cli;

import io.partita.ir.diagnostic.Diagnostic;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code partita} command. Each subcommand is a class, listed here. */
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
      "1:the command ran, and a check failed",
      "2:a mistake in the command line or in its input",
      "70:a bug in Partita"
    },
    subcommands = {
      InspectCommand.class,
      PlanCommand.class,
      CompileCommand.class,
      ReportCommand.class,
      RunCommand.class,
      GenerateCommand.class,
      CheckCommand.class,
      EvaluateCommand.class,
      QuantizeCommand.class,
      CalibrateCommand.class,
      RankCommand.class,
      TuneCommand.class,
      DiffCommand.class,
      OptCommand.class,
      ZooCommand.class,
      ExplainCommand.class,
      KeyCommand.class,
      DoctorCommand.class,
      CompletionCommand.class,
      CommandLine.HelpCommand.class,
      WarmUp.class
    })
final class Main implements Runnable {
  /** The last of these counts: remedies append them to a command that may already have them. */
  private static final Set<String> REPLACED =
      Set.of("--devices", "--strategy", "--kv-capacity", "--chunk", "--plan", "--dim");

  /** Options that bind names to values. */
  private static final Set<String> BOUND = Set.of("--dim", "--bind");

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an internal error.")
  boolean debug;

  @Spec CommandSpec spec;

  /** Without a subcommand, prints the usage. */
  @Override
  public void run() {
    throw new CommandLine.ParameterException(
        spec.commandLine(),
        "which command? A model becomes a program with: partita compile MODEL.onnx --target java -o DIR");
  }

  /** An empty text would mean the working folder, which is never intended. */
  private static Path path(String text) {
    if (text.isBlank()) {
      throw new CommandLine.TypeConversionException("a path can't be empty");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException wrong) {
      throw new CommandLine.TypeConversionException("not a path: " + wrong.getReason());
    }
  }

  /** Returns the command with its error handling, writing to the given streams. */
  static CommandLine commandLine(PrintWriter out, PrintWriter err) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    for (String command : List.of("plan", "compile", "check")) {
      line.getSubcommands().get(command).setOverwrittenOptionsAllowed(true);
    }
    if (isDumbTerminal()) {
      line.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
    }
    return line.setOut(new PrintWriter(new VisibleText(out), true))
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Path.class, Main::path)
        .registerConverter(GivenModel.class, text -> new GivenModel(path(text)))
        .setExecutionStrategy(parsed -> execute(parsed, out))
        .setParameterExceptionHandler(new Usage())
        .setExecutionExceptionHandler(new Failures(main));
  }

  /** Whether the terminal says that it has no escape sequences. */
  static boolean isDumbTerminal() {
    return "dumb".equals(System.getenv("TERM"));
  }

  /** Help has no names of models, and is coloured on terminals: it is printed as it is. */
  private static int execute(CommandLine.ParseResult parsed, PrintWriter out) {
    for (CommandLine.ParseResult each = parsed; each != null; each = each.subcommand()) {
      if (each.isUsageHelpRequested() || each.commandSpec().helpCommand()) {
        each.commandSpec().commandLine().setOut(out);
      }
      verifyGivenOnce(each);
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /**
   * Refuses other options than {@link #REPLACED} that a command line has twice, as picocli does.
   */
  private static void verifyGivenOnce(CommandLine.ParseResult parsed) {
    for (CommandLine.Model.OptionSpec option : parsed.matchedOptions()) {
      CommandLine line = parsed.commandSpec().commandLine();
      if (line.isOverwrittenOptionsAllowed() && REPLACED.contains(option.longestName())) {
        continue;
      }
      if (!option.isMultiValue() && option.originalStringValues().size() > 1) {
        throw new CommandLine.OverwrittenOptionException(
            line,
            option,
            "option '%s' (%s) should be specified only once"
                .formatted(option.longestName(), option.paramLabel()));
      }
      if (BOUND.contains(option.longestName())) {
        verifyBoundOnce(line, option);
      }
    }
  }

  /** Refuses two different values of one name. */
  private static void verifyBoundOnce(CommandLine line, CommandLine.Model.OptionSpec option) {
    Map<String, String> bound = new HashMap<>();
    for (String binding : option.originalStringValues()) {
      String before = bound.putIfAbsent(binding.split("=", 2)[0], binding);
      if (before != null && !before.equals(binding)) {
        throw new CommandLine.ParameterException(
            line,
            "%s is given twice, with different values: %s and %s"
                .formatted(option.longestName(), before, binding));
      }
    }
  }

  public static void main(String[] arguments) {
    // Number formats don't depend on the locale, since other programs read them.
    Locale.setDefault(Locale.ROOT);
    System.exit(
        run(
            new FileOutputStream(FileDescriptor.out),
            new FileOutputStream(FileDescriptor.err),
            arguments));
  }

  /**
   * Runs a command and returns its exit code.
   *
   * @param output standard output; a failure to write to it is an error
   */
  static int run(OutputStream output, OutputStream errors, String... arguments) {
    VerifiedOutput verified = new VerifiedOutput(output);
    PrintWriter out = new PrintWriter(verified, true, charset(System.out));
    PrintWriter err = new PrintWriter(errors, true, charset(System.err));
    int exitCode;
    try {
      exitCode = commandLine(out, err).execute(arguments);
    } catch (Error failure) {
      exitCode = Failures.report(failure, err, List.of(arguments).contains("--debug"));
      if (List.of(arguments).contains("--json")) {
        out.println(Failures.json(failure, exitCode));
      }
    }
    out.flush();
    Optional<Diagnostic> lost = verified.failure();
    lost.ifPresent(err::println);
    err.flush();
    return lost.isPresent() && exitCode == ExitCode.DONE ? ExitCode.USER_ERROR : exitCode;
  }

  private static Charset charset(PrintStream stream) {
    return stream.charset();
  }
}
