package io.partita.ir.file;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handles a request to end the process, such as Ctrl-C, while files are written: writing fails at
 * its next block, and the process waits until partial files are removed.
 */
public final class ShutdownGuard implements AutoCloseable {
  private static final int MAX_WAIT_SECONDS = 10;

  private final CountDownLatch tidied = new CountDownLatch(1);
  private final Thread hook = new Thread(this::awaitTidying, "await-tidying");
  private volatile boolean told;

  /** Begins to watch for requests. */
  public ShutdownGuard() {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException ending) {
      told = true;
    }
  }

  /** Whether the process ends, on request or because it is done. */
  public static boolean isEnding() {
    Thread none = new Thread(() -> {}, "none");
    try {
      Runtime.getRuntime().addShutdownHook(none);
      Runtime.getRuntime().removeShutdownHook(none);
      return false;
    } catch (IllegalStateException ending) {
      return true;
    }
  }

  private void awaitTidying() {
    told = true;
    try {
      tidied.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Checks that the process has not been told to end.
   *
   * @throws InterruptedIOException if it has
   */
  public void verifyGoesOn() throws IOException {
    if (told) {
      throw new InterruptedIOException("the process was asked to terminate");
    }
  }

  /** Returns a stream that fails when the process is told to end. */
  public OutputStream watched(OutputStream out) {
    return new FilterOutputStream(out) {
      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        verifyGoesOn();
        out.write(bytes, offset, length);
      }
    };
  }

  /** Returns a channel that fails when the process is told to end. */
  public WritableByteChannel watched(WritableByteChannel channel) {
    return new WritableByteChannel() {
      @Override
      public int write(ByteBuffer bytes) throws IOException {
        verifyGoesOn();
        return channel.write(bytes);
      }

      @Override
      public boolean isOpen() {
        return channel.isOpen();
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  /** Ends watching, after files are complete or removed. */
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
