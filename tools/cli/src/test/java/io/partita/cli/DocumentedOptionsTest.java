package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.SyncSelection;
import io.partita.driver.Target;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Parses every command of the documentation and the values of its options that have a syntax of
 * their own. {@link DocumentedPagesTest} runs the commands.
 */
class DocumentedOptionsTest {
  private static final Pattern MENTION = Pattern.compile("`(partita [a-z][^`\n]*)`");

  /** Parses all commands: to make one takes longer than to parse. */
  private static final CommandLine LINE =
      Main.commandLine(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()));

  /**
   * @param isMention whether what a command needs may be left out, and words in capitals stand for
   *     what the reader has
   */
  private static Optional<String> fault(List<String> words, boolean isMention) {
    List<String> arguments =
        words.stream()
            .skip(1)
            .dropWhile(word -> word.startsWith("-J"))
            .map(word -> isMention && word.matches("[A-Z]+") ? "1" : word)
            .toList();
    try {
      ParseResult found = LINE.parseArgs(arguments.toArray(String[]::new));
      while (found.hasSubcommand()) {
        found = found.subcommand();
      }
      if (!isMention) {
        verifyValues(found);
      }
      return Optional.empty();
    } catch (MissingParameterException e) {
      List<String> unknown = e.getCommandLine().getUnmatchedArguments();
      return isMention && unknown.isEmpty()
          ? Optional.empty()
          : Optional.of(e.getMessage() + unknown);
    } catch (ParameterException | PartitaException e) {
      return Optional.of(e.getMessage());
    }
  }

  private static void verifyValues(ParseResult command) {
    Optional<String> passes = value(command, "--passes");
    // A file that an earlier command wrote.
    if (passes.isPresent() && !passes.get().contains("calibration=")) {
      Pipeline.parse(passes.get(), StandardPasses.REGISTRY);
    }
    value(command, "--target")
        .filter(text -> !text.contains(".target") && !Target.names().contains(text))
        .ifPresent(TargetLibrary::find);
    new SyncSelection(
            Optional.empty(), Optional.empty(), Optional.empty(), value(command, "--speculate"))
        .speculation();
    Optional<String> rules = value(command, "--sync");
    if (value(command, "--ranking").isEmpty()) {
      new SyncSelection(rules, Optional.empty(), Optional.empty()).speculation();
    }
  }

  private static Optional<String> value(ParseResult command, String option) {
    return command.hasMatchedOption(option)
        ? Optional.of(command.matchedOption(option).originalStringValues().getLast())
        : Optional.empty();
  }

  @Test
  void commandsParse() throws IOException {
    List<String> faults = new ArrayList<>();
    int count = 0;
    for (Path page : DocumentedPage.paths()) {
      for (DocumentedPage.Command command : DocumentedPage.of(page).commands()) {
        if (command.file().isPresent()) {
          continue;
        }
        for (List<String> words : ShellWords.commands(command.text())) {
          if (words.getFirst().matches("(\\./)?partita")) {
            count++;
            fault(words, false)
                .ifPresent(
                    fault ->
                        faults.add(
                            page.getFileName()
                                + ":"
                                + command.line()
                                + ": "
                                + words
                                + ": "
                                + fault));
          }
        }
      }
    }
    assertThat(faults).isEmpty();
    assertThat(count).isGreaterThan(60);
  }

  @Test
  void mentionsParse() throws IOException {
    List<String> faults = new ArrayList<>();
    int count = 0;
    for (Path page : DocumentedPage.paths()) {
      for (MatchResult mention : MENTION.matcher(Files.readString(page)).results().toList()) {
        String text = mention.group(1).replace("…", "").replace("...", "");
        for (List<String> words : ShellWords.commands(text)) {
          count++;
          fault(words, true)
              .ifPresent(fault -> faults.add(page.getFileName() + ": " + words + ": " + fault));
        }
      }
    }
    assertThat(faults).isEmpty();
    assertThat(count).isGreaterThan(90);
  }

  @Test
  void faultsAreFound() {
    assertThat(fault(List.of("partita", "plan", "m.onnx", "--taget", "siracusa"), true))
        .isPresent();
    assertThat(fault(List.of("partita", "plam"), true)).isPresent();
    assertThat(fault(List.of("partita", "plan", "m.onnx"), false)).isPresent();
    assertThat(fault(List.of("partita", "plan", "m.onnx"), true)).isEmpty();
    assertThat(fault(List.of("partita", "plan", "m", "--target", "siracuse"), false)).isPresent();
    assertThat(fault(List.of("partita", "opt", "m", "--passes", "simplfy"), false)).isPresent();
  }

  @Test
  void linesAreSplitAsShellsDo() {
    assertThat(
            ShellWords.commands(
                "a 'b c' \"d\"e \\\n f > out.txt 2>&1 && g # h\n| i; j < k -D='' x=2>y\n"))
        .containsExactly(
            List.of("a", "b c", "de", "f"), List.of("g"), List.of("i"), List.of("j", "-D=", "x=2"));
  }
}
