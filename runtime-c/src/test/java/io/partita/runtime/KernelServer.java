package io.partita.runtime;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A process that calls kernels; its last output becomes the test's message. */
final class KernelServer implements AutoCloseable {
  private final Path messages;
  private final Process process;
  private final OutputStream requests;

  private final int pointerBytes;

  /** Runs in a process that reports errors in a file. */
  KernelServer(ProcessBuilder server, Path messages, int pointerBytes) {
    this.messages = messages;
    this.pointerBytes = pointerBytes;
    try {
      process = server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    requests = new BufferedOutputStream(process.getOutputStream(), 1 << 16);
  }

  byte[] reply(KernelCall call, int cores, boolean backwards) {
    try {
      requests.write(call.request(cores, backwards, pointerBytes));
      requests.flush();
      byte[] reply = process.getInputStream().readNBytes(call.replySize());
      if (reply.length < call.replySize()) {
        throw new IOException("the kernel server ended early");
      }
      return reply;
    } catch (IOException e) {
      throw new AssertionError(call + ":\n" + log(), e);
    }
  }

  private String log() {
    try {
      process.waitFor();
      return Files.readString(messages);
    } catch (IOException | InterruptedException e) {
      return e.toString();
    }
  }

  /** Ends the process, and fails if a sanitizer found something at its end. */
  @Override
  public void close() {
    try {
      requests.close();
      if (process.waitFor() != 0) {
        throw new AssertionError(log());
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(log(), e);
    }
  }
}
