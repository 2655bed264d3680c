package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.NearestFile;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.file.ShutdownGuard;
import io.partita.ir.file.TemporaryName;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes files atomically: under a temporary name, which is then moved. */
public final class OutputFile {
  private static final int BLOCK = 1 << 16;

  private OutputFile() {}

  /** Writes to a stream, which it need not close. */
  public interface Writer {
    void write(OutputStream out) throws IOException;
  }

  /**
   * Writes the file; a failure or an interrupt leaves the old file. Links are followed, and pipes
   * and devices are written directly.
   *
   * @throws PartitaException P6005
   */
  public static void write(Path file, Writer writer) {
    try (ShutdownGuard ending = new ShutdownGuard()) {
      if (OutputTarget.isStandardOutput(file)) {
        writeTo(new FileOutputStream(FileDescriptor.out), ending, writer);
        return;
      }
      OutputTarget target = OutputTarget.of(file);
      if (target.isStream()) {
        try (OutputStream out = Files.newOutputStream(target.path(), StandardOpenOption.WRITE)) {
          writeTo(out, ending, writer);
        }
        return;
      }
      Path absolute = target.path();
      Files.createDirectories(absolute.getParent());
      Path part = TemporaryName.createFile(absolute);
      try {
        OutputStream watched = ending.watched(Files.newOutputStream(part));
        try (OutputStream out = new BufferedOutputStream(watched, BLOCK)) {
          writer.write(out);
        }
        ending.verifyGoesOn();
        move(part, absolute);
      } catch (IOException | RuntimeException | Error failure) {
        delete(part);
        throw failure;
      }
    } catch (IOException failure) {
      throw failure(file, failure);
    }
  }

  /**
   * Checks that a file can be written, as far as that is known before, so that long work needn't
   * fail at its end.
   *
   * @throws PartitaException P6005
   */
  public static void verify(Path file) {
    try {
      if (!OutputTarget.isStandardOutput(file)) {
        OutputTarget.of(file);
      }
    } catch (IOException failure) {
      throw failure(file, failure);
    }
  }

  /** Writes through, and leaves the stream open. */
  private static void writeTo(OutputStream out, ShutdownGuard ending, Writer writer)
      throws IOException {
    OutputStream buffered = new BufferedOutputStream(ending.watched(out), BLOCK);
    writer.write(
        new FilterOutputStream(buffered) {
          @Override
          public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
          }

          @Override
          public void close() throws IOException {
            flush();
          }
        });
    buffered.flush();
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
      // A temporary file with a leading dot remains; the requested file is unchanged.
    }
  }

  /** Returns a diagnostic for a file that can't be read or written. */
  public static PartitaException failure(Path file, IOException failure) {
    return new PartitaException(
        DriverCode.FILE,
        file.toString(),
        "a file that can be read or written",
        FileFailure.words(file, failure),
        failure instanceof NoSuchFileException
            ? NearestFile.remedy(file)
            : "check the path, its permissions and the free space");
  }
}
