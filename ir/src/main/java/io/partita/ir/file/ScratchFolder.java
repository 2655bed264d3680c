package io.partita.ir.file;

import io.partita.ir.diagnostic.PartitaException;
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

  /**
   * Creates an empty folder.
   *
   * @throws PartitaException P5002 if it can't be created
   * @throws IOException if the process ends
   */
  public ScratchFolder() throws IOException {
    path = created();
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException ending) {
      OutputFolder.delete(path);
      throw new IOException("the process was asked to terminate", ending);
    }
  }

  private static Path created() {
    try {
      return Files.createTempDirectory("partita-");
    } catch (IOException e) {
      throw unwritable(Path.of(System.getProperty("java.io.tmpdir")), e);
    }
  }

  /** Says that files can't be written to a temporary folder. */
  public static PartitaException unwritable(Path folder, IOException cause) {
    return FolderCode.unwritable(
        folder,
        cause,
        "choose another one for temporary files: partita -J-Djava.io.tmpdir=FOLDER ...");
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
