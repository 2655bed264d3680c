package io.partita.passes.timing;

import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Memory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The routes of bytes between the memories of a chip. */
public final class TransferPaths {
  private TransferPaths() {}

  /** Returns the route with the fewest channels from one memory to another. */
  public static List<DmaChannel> between(ChipKind chip, String from, String to) {
    Map<String, DmaChannel> arrivals = new HashMap<>();
    Map<String, String> before = new HashMap<>();
    Deque<String> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty() && !before.containsKey(to)) {
      String at = open.remove();
      for (Memory memory : chip.memories()) {
        String next = memory.name();
        if (!next.equals(from) && !before.containsKey(next)) {
          chip.channel(at, next)
              .ifPresent(
                  channel -> {
                    arrivals.put(next, channel);
                    before.put(next, at);
                    open.add(next);
                  });
        }
      }
    }
    Deque<DmaChannel> way = new ArrayDeque<>();
    for (String at = to; !at.equals(from); at = before.get(at)) {
      if (!before.containsKey(at)) {
        throw new IllegalArgumentException("no way from " + from + " to " + to);
      }
      way.addFirst(arrivals.get(at));
    }
    return List.copyOf(way);
  }

  /** Returns the kind of a channel: the farther of its memories. */
  public static String level(ChipKind chip, DmaChannel channel) {
    int from = chip.memories().indexOf(chip.memory(channel.from()).orElseThrow());
    int to = chip.memories().indexOf(chip.memory(channel.to()).orElseThrow());
    return chip.memories().get(Math.max(from, to)).name();
  }
}
