package io.partita.ir.program;

import io.partita.ir.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/** Messages under way: from each device to each other, in order. */
final class Channels {
  private final int capacity;
  private final Map<Long, Deque<Tensor>> messages = new TreeMap<>();

  Channels(int capacity) {
    this.capacity = capacity;
  }

  private Deque<Tensor> channel(int from, int to) {
    return messages.computeIfAbsent((long) from << 32 | to, key -> new ArrayDeque<>());
  }

  /** Whether there is room for a message; without a buffer, for one that is waited for. */
  boolean hasRoom(int from, int to) {
    return channel(from, to).size() < Math.max(1, capacity);
  }

  void send(int from, int to, Tensor message) {
    channel(from, to).add(message);
  }

  /** Whether what was sent last is sent: without a buffer, when it's received. */
  boolean isSent(int from, int to) {
    return capacity > 0 || channel(from, to).isEmpty();
  }

  /** The next message, or null. */
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
