package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that is written whole or not at all: under another name first, which is then moved. */
public final class OutputFile {
  private OutputFile() {}

  /** Writes into a file that stands in for the final one. */
  public interface Writer {
    void write(Path file) throws IOException;
  }

  public static void write(Path file, Writer writer) {
    Path absolute = file.toAbsolutePath();
    Path part = absolute.resolveSibling("." + absolute.getFileName() + ".part");
    Thread cleanUp = new Thread(() -> delete(part));
    Runtime.getRuntime().addShutdownHook(cleanUp);
    try {
      Files.createDirectories(absolute.getParent());
      writer.write(part);
      move(part, absolute);
    } catch (IOException failure) {
      throw failure(file, failure);
    } finally {
      delete(part);
      forget(cleanUp);
    }
  }

  private static void move(Path part, Path file) throws IOException {
    try {
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException notAtomic) {
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static void delete(Path part) {
    try {
      Files.deleteIfExists(part);
    } catch (IOException left) {
      // A file with a leading dot stays behind; the one asked for isn't touched.
    }
  }

  private static void forget(Thread cleanUp) {
    try {
      Runtime.getRuntime().removeShutdownHook(cleanUp);
    } catch (IllegalStateException shuttingDown) {
      // It runs already.
    }
  }

  /** A diagnostic for a file that can't be read or written. */
  public static PartitaException failure(Path file, IOException failure) {
    boolean missing = failure instanceof NoSuchFileException;
    String found =
        missing
            ? "no such file"
            : failure.getClass().getSimpleName()
                + (failure.getMessage() == null ? "" : ": " + failure.getMessage());
    return new PartitaException(
        DriverCode.FILE,
        file.toString(),
        "a file that can be read or written",
        found,
        missing ? "check the path" : "check the path, its permissions and the free space");
  }
}
