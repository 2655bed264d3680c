package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.io.IOException;
import java.nio.file.Files;
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
  private static final String PROMPT = "$ ./partita ";
  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9][0-9,]*(\\.[0-9]+)?(e-?[0-9]+)?");

  /** Runs all commands and returns their number. */
  int verify(String name) throws IOException {
    Path page = Invocation.ROOT.resolve("docs").resolve(name);
    List<String> lines = Files.readAllLines(page);
    int commands = 0;
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith(PROMPT)) {
        int end = i + 1;
        while (!lines.get(end).equals("```") && !lines.get(end).startsWith(PROMPT)) {
          end++;
        }
        verify(lines.get(i), lines.subList(i + 1, end));
        commands++;
      }
    }
    return commands;
  }

  private void verify(String command, List<String> shown) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(command.substring(PROMPT.length()));
    while (matcher.find()) {
      String word = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
      words.add(
          word.startsWith("tests/")
              ? Invocation.ROOT.resolve(word).toString()
              : word.endsWith(".json") || word.endsWith(".onnx")
                  ? folder.resolve(word).toString()
                  : word);
    }
    Invocation run = Invocation.of(words.toArray());
    assertThat(run.exitCode()).as(command + "\n" + run.err()).isZero();
    List<String> printed =
        run.out().replace(folder + "/", "").lines().map(String::stripTrailing).toList();
    assertThat(printed).as(command).hasSameSizeAs(shown);
    for (int i = 0; i < shown.size(); i++) {
      if (!shown.get(i).startsWith("measured")) {
        assertThat(text(printed.get(i))).as(command).isEqualTo(text(shown.get(i)));
        List<Double> expected = numbers(shown.get(i));
        List<Double> found = numbers(printed.get(i));
        for (int j = 0; j < expected.size(); j++) {
          double tolerance = 0.01 * Math.abs(expected.get(j)) + 0.001;
          assertThat(found.get(j)).as(shown.get(i)).isEqualTo(expected.get(j), offset(tolerance));
        }
      }
    }
  }

  private static String text(String line) {
    return NUMBER.matcher(line).replaceAll("#").replaceAll(" +", " ");
  }

  private static List<Double> numbers(String line) {
    return NUMBER
        .matcher(line)
        .results()
        .map(found -> Double.valueOf(found.group().replace(",", "")))
        .toList();
  }
}
