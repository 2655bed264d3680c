package io.partita.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The contents of an emitted program's folder, one line each: a file, a folder in it, or files that
 * differ only in a number, such as those of all chips.
 */
final class EmittedFiles {
  private static final Pattern NUMBERED = Pattern.compile("(.*?\\D)(\\d{1,9})(\\D.*|)");

  private EmittedFiles() {}

  /**
   * @param folder the folder of the files
   * @param files paths in it
   */
  static List<String> lines(Path folder, List<String> files) {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    for (String file : files) {
      groups.computeIfAbsent(group(file), any -> new ArrayList<>()).add(file);
    }
    List<String> lines = new ArrayList<>();
    groups.forEach((group, members) -> lines.add(folder.resolve(line(group, members)).toString()));
    return lines;
  }

  private static String group(String file) {
    int slash = file.indexOf('/');
    if (slash >= 0) {
      return file.substring(0, slash + 1);
    }
    Matcher chip = NUMBERED.matcher(file);
    return chip.matches() ? chip.group(1) + "0" + chip.group(3) : file;
  }

  private static String line(String group, List<String> members) {
    if (group.endsWith("/")) {
      return group + " (" + members.size() + " files)";
    }
    return members.size() == 1
        ? members.getFirst()
        : number(members, true) + " … " + number(members, false) + " (" + members.size() + ")";
  }

  /** The file of the first chip or of the last one. */
  private static String number(List<String> files, boolean isFirst) {
    return files.stream().reduce((a, b) -> (chip(a) < chip(b)) == isFirst ? a : b).orElseThrow();
  }

  private static long chip(String file) {
    Matcher chip = NUMBERED.matcher(file);
    return chip.matches() ? Long.parseLong(chip.group(2)) : 0;
  }
}
