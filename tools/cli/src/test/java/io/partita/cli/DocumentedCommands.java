package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the commands of a page and compares what they print with the text that is shown.
 *
 * @param folder the folder of files that the page names without their own
 */
record DocumentedCommands(Path folder) {
  private static final String PROGRAM = "./partita ";
  private static final double TOLERANCE = 0.01;
  private static final String CALIBRATION = "calibration=";

  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  /** Runs all commands and returns their number. */
  int verify(String name) throws IOException {
    Path page = Invocation.ROOT.resolve("docs").resolve(name);
    List<DocumentedPage.Command> commands =
        DocumentedPage.of(page).commands().stream()
            .filter(command -> command.text().startsWith(PROGRAM))
            .toList();
    commands.forEach(command -> verify(command.text(), command.shown()));
    return commands.size();
  }

  private void verify(String command, List<String> shown) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(command.substring(PROGRAM.length()));
    while (matcher.find()) {
      String word = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
      words.add(
          word.startsWith("tests/")
              ? Invocation.ROOT.resolve(word).toString()
              : word.startsWith(CALIBRATION + "tests/")
                  ? CALIBRATION + Invocation.ROOT.resolve(word.substring(CALIBRATION.length()))
                  : word.endsWith(".json") || word.endsWith(".onnx")
                      ? folder.resolve(word).toString()
                      : word);
    }
    Invocation run = Invocation.of(words.toArray());
    assertThat(run.exitCode()).as(command + "\n" + run.err()).isZero();
    String printed = run.out().replace(folder + "/", "");
    assertThat(printed.lines()).as(command).hasSameSizeAs(shown);
    ShownOutput.verify(command, shown, new Invocation(run.exitCode(), printed, ""), TOLERANCE);
  }
}
