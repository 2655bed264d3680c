package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

final class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine partita =
      Main.commandLine(new PrintWriter(out, true), new PrintWriter(err, true));

  @Test
  void printsTheVersionOfTheBuild() {
    assertThat(partita.execute("--version")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).matches("partita \\d+\\.\\d+\\.\\d+\\S*\\R");
  }

  @Test
  void helpDoesNotShowHiddenCommands() {
    assertThat(partita.execute("--help")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).startsWith("Usage: partita").doesNotContain("warm-up");
  }

  @Test
  void unknownCommandsAreUserErrors() {
    assertThat(partita.execute("compose")).isEqualTo(ExitCode.USER_ERROR);
    assertThat(err.toString()).startsWith("Unmatched argument at index 0: 'compose'");
  }

  @Test
  void missingCommandsAreUserErrors() {
    assertThat(partita.execute()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(err.toString()).startsWith("which command?");
  }

  @Test
  void internalErrorsShowNoStackTrace() {
    partita.addSubcommand(new Broken());
    assertThat(partita.execute("broken")).isEqualTo(ExitCode.INTERNAL_ERROR);
    assertThat(err.toString())
        .isEqualToNormalizingNewlines(
            """
            internal error: java.lang.IllegalStateException: no such op
            this is a bug in Partita; --debug shows where
            """);
  }

  @Test
  void debugShowsTheStackTrace() {
    partita.addSubcommand(new Broken());
    assertThat(partita.execute("--debug", "broken")).isEqualTo(ExitCode.INTERNAL_ERROR);
    assertThat(err.toString()).contains("at io.partita.cli.MainTest$Broken.run");
  }

  @Test
  void warmingUpPrintsNothing() {
    assertThat(partita.execute("warm-up")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).isEmpty();
  }

  @Command(name = "broken")
  private static final class Broken implements Runnable {
    @Override
    public void run() {
      throw new IllegalStateException("no such op");
    }
  }
}
