package io.partita.backend.metalium;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lays a printed program in Python out as Black does with lines of 120 columns, the style of
 * Tenstorrent's sources: blank lines around functions, and long lists in lines of their own.
 */
final class PythonLayout {
  private static final int COLUMNS = 120;

  private static final Pattern LIST = Pattern.compile("( *)(\\w+=)\\[(.*)],");

  private PythonLayout() {}

  static String of(String text) {
    List<String> lines = new ArrayList<>();
    String before = "";
    for (String line : text.lines().toList()) {
      if (!line.isEmpty()) {
        if (!before.isEmpty()) {
          separate(lines, before, line);
        }
        lines.addAll(fitted(line));
        before = line;
      } else if (!lines.getLast().isEmpty()) {
        lines.add(line);
      }
    }
    return String.join("\n", lines) + "\n";
  }

  /** Two blank lines around what is at the beginning of a line, and one before a method. */
  private static void separate(List<String> lines, String before, String line) {
    boolean isTop = !line.startsWith(" ");
    boolean begins = line.strip().startsWith("def ") || line.startsWith("class ");
    int blank =
        isTop && (begins || before.startsWith(" ") && line.startsWith("if "))
            ? 2
            : begins && !before.endsWith(":") ? 1 : 0;
    int there = lines.getLast().isEmpty() ? 1 : 0;
    for (int i = there; i < blank; i++) {
      lines.add("");
    }
  }

  private static List<String> fitted(String line) {
    Matcher list = LIST.matcher(line);
    if (line.length() <= COLUMNS || !list.matches()) {
      return List.of(line);
    }
    String indent = list.group(1);
    List<String> lines = new ArrayList<>();
    lines.add(indent + list.group(2) + "[");
    String inner = indent + "    ";
    if (inner.length() + list.group(3).length() <= COLUMNS) {
      lines.add(inner + list.group(3));
    } else {
      elements(list.group(3)).forEach(element -> lines.add(inner + element + ","));
    }
    lines.add(indent + "],");
    return lines;
  }

  /** What commas separate outside of brackets. */
  private static List<String> elements(String text) {
    List<String> elements = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      depth += each == '(' || each == '[' ? 1 : each == ')' || each == ']' ? -1 : 0;
      if (each == ',' && depth == 0) {
        elements.add(text.substring(start, i).strip());
        start = i + 1;
      }
    }
    elements.add(text.substring(start).strip());
    return elements;
  }
}
