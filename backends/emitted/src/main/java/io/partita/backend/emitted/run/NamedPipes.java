package io.partita.backend.emitted.run;

import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The named pipes of one chip, {@code chipI.in} and {@code chipI.out}.
 *
 * <p>Opening a pipe waits for the process at the other end, which may have died. So both ends are
 * kept open here until the program has ended, or its input should end.
 */
final class NamedPipes implements AutoCloseable {
  private final RandomAccessFile keptInput;
  private final RandomAccessFile keptOutput;
  private final OutputStream input;
  private final InputStream output;

  private NamedPipes(Path in, Path out) throws IOException {
    keptInput = new RandomAccessFile(in.toFile(), "rw");
    keptOutput = new RandomAccessFile(out.toFile(), "rw");
    input = new BufferedOutputStream(new FileOutputStream(in.toFile()));
    output = new FileInputStream(out.toFile());
  }

  /** Creates the pipes of chips in a folder. */
  static List<NamedPipes> make(Path files, int chips) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("mkfifo"));
    for (int chip = 0; chip < chips; chip++) {
      command.add(in(files, chip).toString());
      command.add(out(files, chip).toString());
    }
    int code = new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
    if (code != 0) {
      throw new IOException("mkfifo ended with " + code);
    }
    List<NamedPipes> pipes = new ArrayList<>();
    for (int chip = 0; chip < chips; chip++) {
      pipes.add(new NamedPipes(in(files, chip), out(files, chip)));
    }
    return pipes;
  }

  private static Path in(Path files, int chip) {
    return files.resolve("chip" + chip + ".in");
  }

  private static Path out(Path files, int chip) {
    return files.resolve("chip" + chip + ".out");
  }

  /** The stream that the chip reads. */
  OutputStream input() {
    return input;
  }

  /** The stream that the chip writes. */
  InputStream output() {
    return output;
  }

  /**
   * Called after the program has ended: readers get the end of the stream, writers a broken pipe.
   */
  void release() {
    try (keptInput;
        keptOutput) {
      // Only closes it.
    } catch (IOException gone) {
      // It is no longer kept open.
    }
  }

  /** Ends the chip's input. */
  void endInput() {
    try (keptInput) {
      input.close();
    } catch (IOException gone) {
      // The program has ended before it read everything.
    }
  }

  @Override
  public void close() {
    release();
    endInput();
    try {
      output.close();
    } catch (IOException gone) {
      // It has been read.
    }
  }
}
