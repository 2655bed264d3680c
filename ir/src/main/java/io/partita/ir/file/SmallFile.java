package io.partita.ir.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads text files that are small in any emitted program. */
public final class SmallFile {
  private static final long MAX_BYTES = 1 << 26;

  private SmallFile() {}

  /**
   * Returns the text of a file.
   *
   * @throws IllegalArgumentException if the file is too large to be what is expected
   */
  public static String text(Path file) throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IllegalArgumentException("a file of " + Files.size(file) + " bytes");
    }
    return Files.readString(file);
  }
}
