package io.partita.cli;

import io.partita.ir.diagnostic.NearestName;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

/**
 * Reports a mistake in the command line: the problem, the command's usage, and where to read more.
 * The full help would push the message off the screen.
 */
final class Usage implements IParameterExceptionHandler {
  /** Picocli names the Java type. */
  private static final Pattern NUMBER =
      Pattern.compile("'([+-]?\\d+)?([^']*)' is not an? (int|long|float|double)$");

  private static final Pattern VALUES =
      Pattern.compile("expected one of \\[.*] \\(case-insensitive\\)");

  @Override
  public int handleParseException(ParameterException mistake, String[] arguments) {
    CommandLine command = mistake.getCommandLine();
    PrintWriter err = command.getErr();
    // Picocli reports missing options first, even if a misspelt name is the cause.
    List<String> unknown =
        mistake instanceof MissingParameterException ? command.getUnmatchedArguments() : List.of();
    String message =
        unknown.isEmpty()
            ? told(mistake)
            : "Unknown option or argument: '" + String.join("', '", unknown) + "'";
    err.println(message);
    if (List.of(arguments).contains("--json")) {
      command.getOut().println(Json.failure(ExitCode.USER_ERROR, message, List.of()));
    }
    Optional<String> near = meant(mistake);
    near.ifPresent(name -> err.println("Did you mean: " + name + "?"));
    boolean top = command.getParent() == null;
    if (top && near.isEmpty()) {
      command.usage(err);
    } else {
      if (!top) {
        err.print(command.getHelp().fullSynopsis());
      }
      err.println("'" + command.getCommandSpec().qualifiedName() + " --help' says more");
    }
    err.flush();
    return ExitCode.USER_ERROR;
  }

  /** Picocli's message, with the values of an enum as they are written in the documentation. */
  private static String told(ParameterException mistake) {
    // "option option" is a mistake in picocli.
    String message =
        NUMBER
            .matcher(mistake.getMessage().replace("option option", "option"))
            .replaceFirst(wrong -> Matcher.quoteReplacement(told(wrong)));
    List<String> values = values(mistake);
    return values.isEmpty()
        ? message
        : VALUES.matcher(message).replaceFirst("expected one of " + String.join(", ", values));
  }

  /** What is wrong with a number that picocli can't read. */
  private static String told(MatchResult wrong) {
    String text = Objects.requireNonNullElse(wrong.group(1), "") + wrong.group(2);
    if (wrong.group(3).matches("float|double")) {
      return "'" + text + "' isn't a number";
    }
    boolean isWhole = wrong.group(1) != null && wrong.group(2).isEmpty();
    return "'"
        + text
        + "' "
        + (isWhole ? "is beyond the range of this number" : "isn't a whole number");
  }

  /** The option, value or command that a misspelt one probably means. */
  private static Optional<String> meant(ParameterException mistake) {
    CommandLine command = mistake.getCommandLine();
    List<String> options =
        command.getCommandSpec().options().stream()
            .flatMap(option -> Stream.of(option.names()))
            .filter(name -> name.startsWith("--"))
            .toList();
    List<String> unknown = command.getUnmatchedArguments();
    Optional<String> option =
        unknown.stream()
            .filter(word -> word.startsWith("--"))
            .flatMap(word -> NearestName.of(word.split("=", 2)[0], options).stream())
            .findFirst();
    String value = unknown.isEmpty() ? mistake.getValue() : unknown.getFirst();
    return option
        .or(() -> NearestName.of(String.valueOf(value), command.getSubcommands().keySet()))
        .or(() -> NearestName.of(String.valueOf(value), values(mistake)));
  }

  /** The values of the option or parameter that a mistake is about, if they are fixed. */
  private static List<String> values(ParameterException mistake) {
    return mistake.getArgSpec() != null && mistake.getArgSpec().type().isEnum()
        ? Stream.of(mistake.getArgSpec().type().getEnumConstants())
            .map(value -> value.toString().toLowerCase(Locale.ROOT))
            .toList()
        : List.of();
  }
}
