package io.partita.ir.file;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads text files that are small in any emitted program. */
public final class SmallFile {
  private static final long MAX_BYTES = 1 << 26;

  private SmallFile() {}

  /**
   * Returns the text of a file.
   *
   * @throws IllegalArgumentException if the file is too large to be what is expected, or a pipe or
   *     device, whose opening may block
   */
  public static String text(Path file) throws IOException {
    if (isOther(file)) {
      throw new IllegalArgumentException("a pipe or a device");
    }
    if (Files.size(file) > MAX_BYTES) {
      throw new IllegalArgumentException("a file of " + Files.size(file) + " bytes");
    }
    return Files.readString(file);
  }

  /**
   * Refuses a pipe, a socket or a device: opening it may block, and reading it may never end.
   *
   * @throws FileSystemException if it is one
   */
  public static void verifyEnds(Path file) throws FileSystemException {
    if (isOther(file)) {
      throw new FileSystemException(file.toString(), null, "a pipe or a device");
    }
  }

  /** Whether the path is a pipe, a socket or a device. */
  public static boolean isOther(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
  }
}
