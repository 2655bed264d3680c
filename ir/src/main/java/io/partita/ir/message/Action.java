package io.partita.ir.message;

import java.util.List;

/** Something that a device does for the messages of an exchange; see {@link Actions}. */
public sealed interface Action {
  /** The index of the step, or of the first of several. */
  int step();

  /** The message, or the first of several. */
  Step message();

  /** The number of the exchange's first sends that must have ended before. */
  int ended();

  /** Where the buffer of the message begins, or of the first of several; 0 without a buffer. */
  long place();

  /** Starts to send a message, which goes on during the next actions. */
  record Send(int step, Step.Send message, long place, int ended) implements Action {}

  /** Starts to receive a message. */
  record Post(int step, Step.Receive message, long place, int ended) implements Action {}

  /** Something that is done for messages of the same elements; one if it isn't combined. */
  sealed interface Joining extends Action {
    List<Step.Receive> messages();

    @Override
    default Step.Receive message() {
      return messages().getFirst();
    }
  }

  /**
   * Starts to copy the device's own elements and the messages of the next {@link Finish} to where
   * they are combined, if all of them have arrived.
   */
  record Load(int step, List<Step.Receive> messages, long place, int ended) implements Joining {
    public Load {
      messages = List.copyOf(messages);
    }
  }

  /** Awaits messages, and combines them with the device's own elements in one pass. */
  record Finish(int step, List<Step.Receive> messages, long place, int ended) implements Joining {
    public Finish {
      messages = List.copyOf(messages);
    }
  }
}
