package io.partita.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a script by which a shell completes commands, options and their values. */
@Command(
    name = "completion",
    description = {
      "Print a script by which a shell completes commands, options and paths.",
      "For bash: source <(partita completion bash). For zsh: source <(partita completion zsh)"
          + " after compinit."
    })
final class CompletionCommand implements Callable<Integer> {
  /** The shells. */
  enum Shell {
    BASH,
    ZSH
  }

  @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
  Shell shell;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    // The same script serves both: it loads zsh's emulation of bash completion itself.
    String script = AutoComplete.bash("partita", spec.root().commandLine());
    spec.commandLine().getOut().print(script);
    spec.commandLine().getOut().flush();
    return ExitCode.DONE;
  }
}
