package io.partita.cli;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import picocli.CommandLine.Command;

/**
 * Does what users do most, once, with no output. The launcher records which classes this loads into
 * the JVM's AOT cache, so that later runs start fast.
 */
@Command(name = "warm-up", hidden = true, description = "Load what most commands need.")
final class WarmUp implements Runnable {
  private static final List<List<String>> COMMANDS =
      List.of(List.of("--version"), List.of("--help"), List.of("no-such-command"));

  @Override
  public void run() {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    for (List<String> command : COMMANDS) {
      Main.commandLine(nowhere, nowhere).execute(command.toArray(String[]::new));
    }
  }
}
