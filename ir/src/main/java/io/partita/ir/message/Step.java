package io.partita.ir.message;

import io.partita.ir.function.Combine;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A message that a device sends or receives. Results are those of steps that are executed one after
 * the other; a device may start the messages of an exchange together.
 */
public sealed interface Step {
  /** The device at the other end. */
  int peer();

  /** The elements of the message, in order. No slice is empty. */
  List<Slice> slices();

  /** The size of the message. */
  long bytes();

  /** Whether the vector itself is sent from or received into: one slice, and not to be combined. */
  boolean isInPlace();

  /**
   * Sends a message. Ends when the message is in the channel or, in a channel without buffers, when
   * it has been received.
   */
  record Send(int to, List<Slice> slices, long bytes) implements Step {
    public Send {
      slices = List.copyOf(slices);
    }

    @Override
    public int peer() {
      return to;
    }

    @Override
    public boolean isInPlace() {
      return slices.size() == 1;
    }

    @Override
    public String toString() {
      return "send " + bytes + " B to " + to;
    }
  }

  /** Waits for the next message of a device and combines it with the device's own elements. */
  record Receive(int from, List<Slice> slices, long bytes, Combine combine) implements Step {
    public Receive {
      slices = List.copyOf(slices);
    }

    @Override
    public int peer() {
      return from;
    }

    @Override
    public boolean isInPlace() {
      return slices.size() == 1 && combine == Combine.REPLACE;
    }

    @Override
    public String toString() {
      return "receive " + bytes + " B from " + from;
    }
  }

  /** Returns the text form: {@code send 3 (256 B): 0+64; receive 3 (256 B) add: 0+64}. */
  public static String text(List<Step> steps) {
    return steps.stream()
        .map(
            step ->
                switch (step) {
                      case Send send -> "send " + send.to + " (" + send.bytes + " B)";
                      case Receive receive ->
                          "receive "
                              + receive.from
                              + " ("
                              + receive.bytes
                              + " B) "
                              + receive.combine.text();
                    }
                    + ": "
                    + Slice.text(step.slices()))
        .collect(Collectors.joining("; "));
  }
}
