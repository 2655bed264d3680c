package io.partita.ir.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder for files that a loaded program needs; it goes with the program, or the process. */
public final class ScratchFolder implements AutoCloseable {
  private final Path path;
  private final Thread hook = new Thread(this::deleteWhatGoes, "delete-scratch");

  /** Makes an empty one. */
  public ScratchFolder() throws IOException {
    path = Files.createTempDirectory("partita-");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException ending) {
      OutputFolder.delete(path);
      throw new IOException("the process was told to end", ending);
    }
  }

  public Path path() {
    return path;
  }

  /** Who still writes may be in the way; the process ends all the same. */
  private void deleteWhatGoes() {
    try {
      OutputFolder.delete(path);
    } catch (IOException busy) {
      // Nothing more can be done in a process that ends.
    }
  }

  @Override
  public void close() {
    try {
      OutputFolder.delete(path);
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The hook does the same.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
