package io.partita.cli;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** A command line as text that a shell reads as the same words. */
final class CommandText {
  private CommandText() {}

  /**
   * Returns the command line of the running command, without options that say where it writes: they
   * don't change what it computes.
   *
   * @param outputs the names of these options
   */
  static String of(CommandSpec spec, List<String> outputs) {
    return words(spec, outputs).stream().map(CommandText::quoted).collect(Collectors.joining(" "));
  }

  /** Like {@link #of}, with the names of files instead of their paths, for emitted files. */
  static String withoutFolders(CommandSpec spec, List<String> outputs) {
    return words(spec, outputs).stream()
        .map(CommandText::withoutFolder)
        .map(CommandText::quoted)
        .collect(Collectors.joining(" "));
  }

  private static String withoutFolder(String word) {
    int at = word.startsWith("--") ? word.indexOf('=') + 1 : 0;
    String value = word.substring(at);
    try {
      Path path = Path.of(value);
      return !value.isEmpty() && path.getFileName() != null && Files.exists(path)
          ? word.substring(0, at) + path.getFileName()
          : word;
    } catch (InvalidPathException other) {
      return word;
    }
  }

  private static List<String> words(CommandSpec spec, List<String> outputs) {
    List<String> words = new ArrayList<>(List.of("partita"));
    boolean isPath = false;
    for (String word : spec.root().commandLine().getParseResult().originalArgs()) {
      if (isPath) {
        isPath = false;
      } else if (outputs.contains(word)) {
        isPath = true;
      } else if (outputs.stream().noneMatch(name -> isJoined(word, name))) {
        words.add(word);
      }
    }
    return words;
  }

  /** Whether a word is an option with its value, as in {@code --output=out} or {@code -oout}. */
  private static boolean isJoined(String word, String name) {
    return word.startsWith(name + "=")
        || !name.startsWith("--") && word.startsWith(name) && !word.startsWith("--");
  }

  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
