package io.partita.backend.java.runtime;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The messages of one device. From one device to another they arrive in the order in which they are
 * sent, and a few may be under way: then a send waits until the other device has received one.
 */
public abstract class Channels {
  /** The program of one device. */
  interface Device {
    /**
     * Computes what the device computes.
     *
     * @param inputs arrays, by number of the model's input; null where the device holds nothing
     * @return arrays, by number of the model's output; null where the device holds nothing
     */
    Object[] call(Object[] inputs);

    /** As {@link #call}, with the inputs and outputs of several tokens at once. */
    default Object[] chunk(Object[] inputs) {
      throw new UnsupportedOperationException("one token at a time");
    }

    /** Forgets all calls. */
    void reset();
  }

  /** Loads the program of a device, whose weights lie in a folder. */
  interface Opener {
    Device open(Path folder, int device, Channels channels) throws IOException;
  }

  /** All devices, each with its program. */
  interface Devices extends AutoCloseable {
    /**
     * Lets all devices compute.
     *
     * @param inputs by device, as for {@link Device#call}
     * @return outputs by device
     * @throws Failure when a device failed; then all have ended
     */
    Object[][] call(Object[][] inputs);

    /** Lets all devices compute what {@link Device#chunk} does, as {@link #call} does otherwise. */
    Object[][] chunk(Object[][] inputs);

    void reset();

    @Override
    void close();
  }

  /** Why devices couldn't go on. */
  public enum Reason {
    /** A device's own program threw an exception. */
    FAILED,
    /** Devices wait for each other. */
    STALLED,
    /** A device's process ended, or its connection broke. */
    ENDED,
    /** A device doesn't answer at its address. */
    UNREACHABLE,
    /** Devices have different programs, or different versions of these channels. */
    MISMATCH,
    /** The device's own address is in use, or isn't one of this computer. */
    PORT,
    /** The list of addresses can't be read. */
    PEERS
  }

  /** Devices couldn't go on. */
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

    /** The device that the failure is about. */
    public int device() {
      return device;
    }
  }

  /** A failure of a device's own program. */
  static Failure failed(int device, Throwable cause) {
    return cause instanceof Failure
        ? (Failure) cause
        : new Failure(
            Reason.FAILED,
            device,
            cause.getClass().getSimpleName() + ": " + cause.getMessage(),
            cause);
  }

  /** A message that isn't the one that is due: the devices' programs don't fit together. */
  static void verifyDue(int from, int sync, int bytes, int foundSync, int foundBytes) {
    if (sync != foundSync || bytes != foundBytes) {
      throw new IllegalStateException(
          "sync %d is due with %d bytes from device %d, not sync %d with %d bytes"
              .formatted(sync, bytes, from, foundSync, foundBytes));
    }
  }

  /**
   * Sends a message, which isn't written to any more.
   *
   * @param sync number of the exchange that the message is part of
   */
  abstract void send(int to, int sync, byte[] message);

  /** Waits for the next message from a device, which must be of this exchange and size. */
  abstract byte[] receive(int from, int sync, int bytes);
}
