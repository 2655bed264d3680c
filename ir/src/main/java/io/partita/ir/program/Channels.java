package io.partita.ir.program;

import io.partita.ir.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/** Messages in flight, from each device to each other one, in order. */
final class Channels {
  private final int capacity;
  private final Map<Long, Deque<Tensor>> messages = new TreeMap<>();

  Channels(int capacity) {
    this.capacity = capacity;
  }

  private Deque<Tensor> channel(int from, int to) {
    return messages.computeIfAbsent((long) from << 32 | to, key -> new ArrayDeque<>());
  }

  /**
   * Whether a message can be sent: there is room in the buffer or, without one, the receiver waits.
   */
  boolean hasRoom(int from, int to) {
    return channel(from, to).size() < Math.max(1, capacity);
  }

  void send(int from, int to, Tensor message) {
    channel(from, to).add(message);
  }

  /** Whether the last send has ended: without a buffer, when it has been received. */
  boolean isSent(int from, int to) {
    return capacity > 0 || channel(from, to).isEmpty();
  }

  /** Returns the next message, or null. */
  Tensor receive(int from, int to) {
    return channel(from, to).poll();
  }

  void requireEmpty() {
    messages.forEach(
        (channel, queue) -> {
          if (!queue.isEmpty()) {
            throw new IllegalStateException(
                "a message from "
                    + (channel >> 32)
                    + " to "
                    + channel.intValue()
                    + " is not received");
          }
        });
  }
}
