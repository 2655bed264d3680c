package io.partita.cli;

import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Answers a mistake in the command line: what is wrong, how the command is used, where to read
 * more. The whole help would push the message off the screen.
 */
final class Usage implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException mistake, String[] arguments) {
    CommandLine command = mistake.getCommandLine();
    PrintWriter err = command.getErr();
    // Picocli checks what is missing first, though a slip in a name is why it is.
    List<String> unknown =
        mistake instanceof MissingParameterException ? command.getUnmatchedArguments() : List.of();
    if (unknown.isEmpty()) {
      // "option option" is picocli's own slip.
      err.println(mistake.getMessage().replace("option option", "option"));
    } else {
      err.println("Unknown option or argument: '" + String.join("', '", unknown) + "'");
    }
    boolean suggested = UnmatchedArgumentException.printSuggestions(mistake, err);
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
}
