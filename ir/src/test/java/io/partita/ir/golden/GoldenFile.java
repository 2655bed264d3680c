package io.partita.ir.golden;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A file of expected texts under {@code src/test/resources/golden} of the module that is tested,
 * each after a line {@code === name}. A missing section fails; with {@code -Dgolden.update=true}
 * the file is updated instead.
 *
 * <p>A section ends with a line feed, so a text is compared but for line feeds at its end.
 */
public final class GoldenFile {
  private static final String MARK = "=== ";
  private static final Path FOLDER = Path.of("src", "test", "resources", "golden");

  private final Path file;
  private final boolean update;

  GoldenFile(Path file, boolean update) {
    this.file = file;
    this.update = update;
  }

  /**
   * Returns the file of a name such as {@code text/printer.golden}, relative to the module, in
   * which the build runs tests.
   */
  public static GoldenFile of(String name) {
    return new GoldenFile(FOLDER.resolve(name), Boolean.getBoolean("golden.update"));
  }

  /** Fails with the first differing line unless the section equals {@code actual}. */
  public void assertMatches(String section, String actual) {
    if (section.isBlank() || section.contains("\n")) {
      throw new IllegalArgumentException("the name of a section is one line: " + section);
    }
    if (actual.startsWith(MARK) || actual.contains("\n" + MARK)) {
      throw new IllegalArgumentException("a text must not have a line that begins a section");
    }
    String text = actual.stripTrailing();
    synchronized (GoldenFile.class) {
      Map<String, String> sections = read();
      String expected = sections.get(section);
      if (text.equals(expected)) {
        return;
      }
      if (!update) {
        throw new AssertionError(difference(section, expected, text));
      }
      sections.put(section, text);
      write(sections);
    }
  }

  private String difference(String section, String expected, String actual) {
    String hint = "\nrun with -Dgolden.update=true to accept what is there now";
    String where = file + ", section " + section;
    if (expected == null) {
      return where + ": there is no such section" + hint + "\n" + actual;
    }
    String[] want = expected.split("\n", -1);
    String[] have = actual.split("\n", -1);
    int line = 0;
    while (line < Math.min(want.length, have.length) && want[line].equals(have[line])) {
      line++;
    }
    return where
        + ", line "
        + (line + 1)
        + "\n  expected: "
        + (line < want.length ? want[line] : "(no more lines)")
        + "\n  found:    "
        + (line < have.length ? have[line] : "(no more lines)")
        + hint;
  }

  private Map<String, String> read() {
    Map<String, String> sections = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      return sections;
    }
    String[] parts;
    try {
      parts = ("\n" + Files.readString(file)).split("\n" + MARK, -1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (int i = 1; i < parts.length; i++) {
      String[] nameAndText = parts[i].split("\n", 2);
      sections.put(nameAndText[0], nameAndText.length < 2 ? "" : nameAndText[1].stripTrailing());
    }
    return sections;
  }

  private void write(Map<String, String> sections) {
    StringBuilder all = new StringBuilder();
    sections.forEach(
        (name, text) -> {
          all.append(all.isEmpty() ? "" : "\n").append(MARK).append(name).append('\n');
          all.append(text).append('\n');
        });
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, all);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
