package io.partita.ir.schedule.eval;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/** Messages in flight, from each device to each other one. */
final class Mailbox {
  private final Map<Long, Deque<byte[]>> messages = new TreeMap<>();

  private Deque<byte[]> channel(int from, int to) {
    return messages.computeIfAbsent((long) from << 32 | to, key -> new ArrayDeque<>());
  }

  void send(int from, int to, byte[] message) {
    channel(from, to).add(message);
  }

  /** Returns the next message, or null. */
  byte[] receive(int from, int to) {
    return channel(from, to).poll();
  }

  boolean isEmpty() {
    return messages.values().stream().allMatch(Deque::isEmpty);
  }
}
