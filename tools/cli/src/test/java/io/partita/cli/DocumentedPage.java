package io.partita.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The commands of a page, in order, each with the text that the page shows as its output. */
record DocumentedPage(List<Command> commands) {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```\\n");
  private static final Pattern FILE = Pattern.compile("(?m)^(public class|target) ([A-Za-z]\\w*)");
  private static final String PROMPT = "$ ";

  /**
   * A command, or a file that the page tells the reader to write.
   *
   * @param line of the page
   * @param text the command for a shell, or the file's content
   * @param shown the shown output; empty if none is shown
   * @param file the file's name, if it is one
   */
  record Command(int line, String text, List<String> shown, Optional<String> file) {}

  /** All pages of the documentation. */
  static List<Path> paths() throws IOException {
    try (Stream<Path> folders = Files.walk(Invocation.ROOT.resolve("docs"))) {
      List<Path> docs = folders.filter(page -> page.toString().endsWith(".md")).sorted().toList();
      return Stream.concat(
              Stream.of(
                      "README.md",
                      "CONTRIBUTING.md",
                      "CHANGELOG.md",
                      "runtime-c/README.md",
                      "targets/gvsoc/README.md",
                      "tests/fixtures/README.md")
                  .map(Invocation.ROOT::resolve),
              docs.stream())
          .toList();
    }
  }

  static DocumentedPage of(Path page) throws IOException {
    String text = Files.readString(page);
    List<Command> commands = new ArrayList<>();
    Matcher block = BLOCK.matcher(text);
    int scriptEnd = -1;
    while (block.find()) {
      int line = (int) text.substring(0, block.start()).lines().count() + 1;
      List<String> lines = block.group(2).lines().toList();
      Matcher file = FILE.matcher(block.group(2));
      if (block.group(1).equals("sh")) {
        commands.add(new Command(line, block.group(2), List.of(), Optional.empty()));
        scriptEnd = block.end();
      } else if (List.of("java", "target").contains(block.group(1)) && file.find()) {
        Optional<String> name = Optional.of(file.group(2) + "." + block.group(1));
        commands.add(new Command(line, block.group(2), List.of(), name));
      } else if (block.group(1).isEmpty() && lines.getFirst().startsWith(PROMPT)) {
        commands.addAll(prompted(line, lines));
      } else if (scriptEnd >= 0 && text.substring(scriptEnd, block.start()).isBlank()) {
        Command script = commands.removeLast();
        commands.add(new Command(script.line, script.text, lines, Optional.empty()));
      }
    }
    return new DocumentedPage(List.copyOf(commands));
  }

  /** Splits a block at its prompts. */
  private static List<Command> prompted(int line, List<String> lines) {
    List<Command> commands = new ArrayList<>();
    for (int i = 0; i < lines.size(); ) {
      int end = i + 1;
      while (end < lines.size() && !lines.get(end).startsWith(PROMPT)) {
        end++;
      }
      String text = lines.get(i).substring(PROMPT.length());
      List<String> shown = List.copyOf(lines.subList(i + 1, end));
      commands.add(new Command(line + i, text, shown, Optional.empty()));
      i = end;
    }
    return commands;
  }
}
