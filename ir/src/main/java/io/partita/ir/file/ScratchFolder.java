package io.partita.ir.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A temporary folder for a loaded program, which is deleted with the program or the process. */
public final class ScratchFolder implements AutoCloseable {
  private static final int ATTEMPTS = 30;
  private static final long PAUSE_MILLISECONDS = 100;

  private final Path path;
  private final Thread hook = new Thread(this::deleteWhatGoes, "delete-scratch");

  /** Creates an empty folder. */
  public ScratchFolder() throws IOException {
    path = Files.createTempDirectory("partita-");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException ending) {
      OutputFolder.delete(path);
      throw new IOException("the process was asked to terminate", ending);
    }
  }

  public Path path() {
    return path;
  }

  /** Retries, because other threads may still write while the process ends. */
  private void deleteWhatGoes() {
    for (int attempt = 0; attempt < ATTEMPTS && Files.exists(path); attempt++) {
      try {
        OutputFolder.delete(path);
      } catch (IOException busy) {
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    try {
      OutputFolder.delete(path);
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The shutdown hook does the same.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
