package io.partita.backend.java;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Watches, while something is written, whether the process is told to end (Ctrl-C). Then the
 * writing fails at its next block, and the process waits until what was begun is taken away.
 */
final class Ending implements AutoCloseable {
  private static final int LONGEST_WAIT_SECONDS = 10;

  private final CountDownLatch tidied = new CountDownLatch(1);
  private final Thread hook = new Thread(this::awaitTidying, "await-tidying");
  private volatile boolean told;

  Ending() {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException ending) {
      told = true;
    }
  }

  private void awaitTidying() {
    told = true;
    try {
      tidied.await(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fails when the process is told to end. */
  void verifyGoesOn() throws IOException {
    if (told) {
      throw new InterruptedIOException("the process was told to end");
    }
  }

  /** A stream that fails when the process is told to end. */
  OutputStream watched(OutputStream out) {
    return new FilterOutputStream(out) {
      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        verifyGoesOn();
        out.write(bytes, offset, length);
      }
    };
  }

  /** What was begun is complete or taken away. */
  @Override
  public void close() {
    tidied.countDown();
    if (!told) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException ending) {
        told = true;
      }
    }
  }
}
