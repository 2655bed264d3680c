package io.partita.cli;

import io.partita.ir.diagnostic.NearestName;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reports a mistake in the command line: the problem, the command's usage, and where to read more.
 * The full help would push the message off the screen.
 */
final class Usage implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException mistake, String[] arguments) {
    CommandLine command = mistake.getCommandLine();
    PrintWriter err = command.getErr();
    // Picocli reports missing options first, even if a misspelt name is the cause.
    List<String> unknown =
        mistake instanceof MissingParameterException ? command.getUnmatchedArguments() : List.of();
    // "option option" is a mistake in picocli.
    String message =
        unknown.isEmpty()
            ? mistake.getMessage().replace("option option", "option")
            : "Unknown option or argument: '" + String.join("', '", unknown) + "'";
    err.println(message);
    if (List.of(arguments).contains("--json")) {
      command.getOut().println(Json.failure(ExitCode.USER_ERROR, message, List.of()));
    }
    boolean suggested = suggestOption(command, err);
    suggested = suggested || UnmatchedArgumentException.printSuggestions(mistake, err);
    boolean top = command.getParent() == null;
    if (top && !suggested) {
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

  /** The option that a misspelt one probably means. */
  private static boolean suggestOption(CommandLine command, PrintWriter err) {
    List<String> known =
        command.getCommandSpec().options().stream()
            .flatMap(option -> Stream.of(option.names()))
            .filter(name -> name.startsWith("--"))
            .toList();
    for (String word : command.getUnmatchedArguments()) {
      Optional<String> near =
          word.startsWith("--") ? NearestName.of(word.split("=", 2)[0], known) : Optional.empty();
      if (near.isPresent()) {
        err.println("Did you mean: " + near.get() + "?");
        return true;
      }
    }
    return false;
  }
}
