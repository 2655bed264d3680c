package io.partita.ir.reference;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of the documentation that a test writes with {@code -Dgolden.update=true}. */
public final class GeneratedPage {
  private GeneratedPage() {}

  /**
   * Fails unless the page has this text.
   *
   * @param page relative to the folder of the module
   */
  public static void assertMatches(Path page, String text) throws IOException {
    if (Boolean.getBoolean("golden.update")) {
      Files.writeString(page, text);
    }
    String found = Files.exists(page) ? Files.readString(page) : "";
    if (!found.equals(text)) {
      int line = 0;
      var expected = text.lines().toList();
      var lines = found.lines().toList();
      while (line < Math.min(expected.size(), lines.size())
          && expected.get(line).equals(lines.get(line))) {
        line++;
      }
      throw new AssertionError(
          "line %d of %s%nshould be: %s%nis:        %s%n-Dgolden.update=true writes the page"
              .formatted(
                  line + 1,
                  page,
                  line < expected.size() ? expected.get(line) : "the end",
                  line < lines.size() ? lines.get(line) : "the end"));
    }
  }
}
