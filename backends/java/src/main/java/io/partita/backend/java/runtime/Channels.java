package io.partita.backend.java.runtime;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The messages of one device. Messages between two devices arrive in the order in which they were
 * sent. Only a few may be in flight; then a send waits until the other device has received one.
 */
public abstract class Channels {
  /** The program of one device. */
  interface Device {
    /**
     * Runs the device's program.
     *
     * @param inputs arrays by index of the model's input; null where the device holds nothing
     * @return arrays by index of the model's output; null where the device holds nothing
     */
    Object[] call(Object[] inputs);

    /** Like {@link #call}, with the inputs and outputs of several tokens at once. */
    default Object[] chunk(Object[] inputs) {
      throw new UnsupportedOperationException("one token at a time");
    }

    /** Resets the state. */
    void reset();
  }

  /** Loads the program of a device from the folder of its weights. */
  interface Opener {
    Device open(Path folder, int device, Channels channels) throws IOException;
  }

  /** All devices, each with its program. */
  interface Devices extends AutoCloseable {
    /**
     * Runs all devices.
     *
     * @param inputs by device, as for {@link Device#call}
     * @return outputs by device
     * @throws Failure if a device failed; all have then ended
     */
    Object[][] call(Object[][] inputs);

    /** Runs {@link Device#chunk} on all devices. */
    Object[][] chunk(Object[][] inputs);

    void reset();

    @Override
    void close();
  }

  /** Why devices couldn't continue. */
  public enum Reason {
    /** A device's own program threw an exception. */
    FAILED,
    /** Devices wait for each other. */
    STALLED,
    /** A device's process ended, or its connection broke. */
    ENDED,
    /** A device doesn't respond at its address. */
    UNREACHABLE,
    /** Devices have different programs, or different versions of these channels. */
    MISMATCH,
    /** The device's address is in use, or doesn't belong to this computer. */
    PORT,
    /** The list of addresses can't be read. */
    PEERS,
    /** The file of the devices' key can't be used. */
    KEY
  }

  /** Reports that devices couldn't continue. */
  public static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Reason reason;
    private final int device;

    Failure(Reason reason, int device, String message, Throwable cause) {
      super(message, cause);
      this.reason = reason;
      this.device = device;
    }

    public Reason reason() {
      return reason;
    }

    /** The device that failed. */
    public int device() {
      return device;
    }
  }

  /** Returns a failure of a device's program. */
  static Failure failed(int device, Throwable cause) {
    String text =
        cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return cause instanceof Failure
        ? (Failure) cause
        : new Failure(Reason.FAILED, device, text, cause);
  }

  /** Returns a failure for an unexpected message: the devices' programs don't match. */
  static void verifyDue(int from, int sync, int bytes, int foundSync, int foundBytes) {
    if (sync != foundSync || bytes != foundBytes) {
      throw new IllegalStateException(
          "expected sync %d with %d bytes from device %d, found sync %d with %d bytes"
              .formatted(sync, bytes, from, foundSync, foundBytes));
    }
  }

  /**
   * Sends a message, which must not be modified afterwards.
   *
   * @param sync the number of the message's exchange
   */
  abstract void send(int to, int sync, byte[] message);

  /** Waits for the next message from a device, which must have this exchange number and size. */
  abstract byte[] receive(int from, int sync, int bytes);
}
