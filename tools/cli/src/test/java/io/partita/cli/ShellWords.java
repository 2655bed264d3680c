package io.partita.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * The simple commands of a line for a shell, each as words. Knows quotes, escapes, comments,
 * redirections and what joins commands; nothing is expanded.
 */
final class ShellWords {
  private final String text;
  private final List<List<String>> commands = new ArrayList<>();
  private List<String> words = new ArrayList<>();
  private StringBuilder word;
  private int at;

  private ShellWords(String text) {
    this.text = text;
  }

  static List<List<String>> commands(String text) {
    ShellWords line = new ShellWords(text);
    line.read();
    return List.copyOf(line.commands);
  }

  private void read() {
    while (at < text.length()) {
      char c = text.charAt(at++);
      switch (c) {
        case ' ', '\t' -> endWord();
        case '\n', ';', '&', '|', '(', ')' -> endCommand();
        case '<', '>' -> skipRedirection();
        case '\'', '"' -> quoted(c);
        case '\\' -> escaped();
        case '#' -> {
          if (word == null) {
            at = lineEnd();
          } else {
            word.append(c);
          }
        }
        default -> append(c);
      }
    }
    endCommand();
  }

  private int lineEnd() {
    int end = text.indexOf('\n', at);
    return end < 0 ? text.length() : end;
  }

  private void append(char c) {
    if (word == null) {
      word = new StringBuilder();
    }
    word.append(c);
  }

  private void escaped() {
    if (at < text.length() && text.charAt(at++) != '\n') {
      append(text.charAt(at - 1));
    }
  }

  private void quoted(char quote) {
    int end = text.indexOf(quote, at);
    if (end < 0) {
      throw new IllegalArgumentException("an open quote: " + text);
    }
    if (word == null) {
      word = new StringBuilder();
    }
    word.append(text, at, end);
    at = end + 1;
  }

  /** Drops the operator, a number before it, and the word after it. */
  private void skipRedirection() {
    if (word != null && !word.toString().matches("[0-9]")) {
      endWord();
    }
    word = null;
    while (at < text.length() && "<>&".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    while (at < text.length() && text.charAt(at) == ' ') {
      at++;
    }
    while (at < text.length() && " \n;&|".indexOf(text.charAt(at)) < 0) {
      at++;
    }
  }

  private void endWord() {
    if (word != null) {
      words.add(word.toString());
      word = null;
    }
  }

  private void endCommand() {
    endWord();
    if (!words.isEmpty()) {
      commands.add(List.copyOf(words));
      words = new ArrayList<>();
    }
  }
}
