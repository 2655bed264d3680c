package io.partita.passes.timing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The times at which devices begin and end their part of each sync, and their messages. */
public final class SyncEvents {
  private final SortedMap<Integer, Sync> syncs = new TreeMap<>();

  private static final class Sync {
    private String name = "";
    private int messages;
    private long bytes;
    private final Map<Integer, Integer> begins = new HashMap<>();
    private final List<Integer> ends = new ArrayList<>();
  }

  /**
   * One sync of a run.
   *
   * @param sync its number in the program
   * @param name of the node that exchanges, on the first device that reaches it
   * @param devices the number of participants
   * @param messages the number of messages
   * @param bytes of the messages; a forwarded message counts once
   * @param seconds from the arrival of the last device until all are done
   */
  public record SyncTime(
      int sync, String name, int devices, int messages, long bytes, double seconds) {}

  private Sync sync(int number) {
    return syncs.computeIfAbsent(number, key -> new Sync());
  }

  /** Records that a device reaches a sync; only the first event of a device counts. */
  public void begin(int sync, int device, String name, int event) {
    Sync begun = sync(sync);
    begun.begins.putIfAbsent(device, event);
    if (begun.name.isEmpty()) {
      begun.name = name;
    }
  }

  public void message(int sync, long bytes) {
    Sync sending = sync(sync);
    sending.messages++;
    sending.bytes += bytes;
  }

  /** Records that a device has done a part of a sync, not necessarily the last one. */
  public void end(int sync, int event) {
    sync(sync).ends.add(event);
  }

  /** Returns the times of all syncs, by number. */
  public List<SyncTime> times(Outcome outcome) {
    List<SyncTime> times = new ArrayList<>();
    syncs.forEach(
        (number, sync) -> {
          double begin = sync.begins.values().stream().mapToDouble(outcome::end).max().orElse(0);
          double end = sync.ends.stream().mapToDouble(outcome::end).max().orElse(0);
          times.add(
              new SyncTime(
                  number, sync.name, sync.begins.size(), sync.messages, sync.bytes, end - begin));
        });
    return times;
  }
}
