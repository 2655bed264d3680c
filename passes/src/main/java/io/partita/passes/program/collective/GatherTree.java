package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Schedules of an all-gather on a tree in at least as many pieces as there are devices: each
 * message is a device's part, or a piece of it. Each device passes on what it has as soon as a link
 * is free: its own part first, then what its neighbours sent, in the order of arrival. So the
 * members of a group have each other's parts early, and those of other groups later.
 *
 * <p>The order is that of links that all work at the same rate. A device that receives several
 * messages at the same time passes on the first before it waits for the second.
 */
final class GatherTree {
  private final Collective collective;
  private final GroupTree tree;
  private final long most;
  private final List<List<Link>> links = new ArrayList<>();
  private final List<Message> messages = new ArrayList<>();

  /** One direction between two devices. */
  private static final class Link {
    final int from;
    final int to;
    final List<Slice> waiting = new ArrayList<>();
    Message last;

    Link(int from, int to) {
      this.from = from;
      this.to = to;
    }

    boolean isFree(long time) {
      return last == null || last.end() <= time;
    }
  }

  /** A message on a link. Times are in elements that a link carries. */
  private static final class Message {
    final Link link;
    final Slice slice;

    /** The message before on the same link, or null. */
    final Message before;

    /** When it is sent. */
    final long start;

    Message(Link link, Slice slice, long start) {
      this.link = link;
      this.slice = slice;
      this.before = link.last;
      this.start = start;
    }

    /** When it has arrived. */
    long end() {
      return start + slice.size();
    }
  }

  private GatherTree(Collective collective, GroupTree tree, int pieces) {
    this.collective = collective;
    this.tree = tree;
    this.most = Math.max(1, Math.ceilDiv(collective.elements(), pieces));
    for (int device = 0; device < collective.devices(); device++) {
      links.add(links(device));
    }
  }

  /**
   * @param pieces messages have at most this part of the vector
   * @param buffered whether channels hold a message
   */
  static Schedule of(Collective collective, GroupTree tree, int pieces, boolean buffered) {
    GatherTree gather = new GatherTree(collective, tree, pieces);
    gather.flow();
    return buffered ? gather.inTimeOrder() : gather.inStartOrder();
  }

  /** Returns the links of a device; those to the most other devices first. */
  private List<Link> links(int device) {
    List<Link> from = new ArrayList<>();
    if (device != tree.root()) {
      from.add(new Link(device, tree.parent(device)));
    }
    tree.children(device).reversed().forEach(child -> from.add(new Link(device, child)));
    return from;
  }

  /** Finds all messages, in the order in which they are sent. */
  private void flow() {
    List<Slice> parts = collective.slices();
    for (int device = 0; device < collective.devices(); device++) {
      for (Slice piece : pieces(parts.get(device))) {
        links.get(device).forEach(link -> link.waiting.add(piece));
      }
    }
    TreeMap<Long, List<Message>> arriving = new TreeMap<>();
    send(0, arriving);
    while (!arriving.isEmpty()) {
      long time = arriving.firstKey();
      for (Message message : arriving.remove(time)) {
        for (Link link : links.get(message.link.to)) {
          if (link.to != message.link.from) {
            link.waiting.add(message.slice);
          }
        }
      }
      send(time, arriving);
    }
  }

  private List<Slice> pieces(Slice part) {
    long count = Math.ceilDiv(part.size(), most);
    List<Slice> pieces = new ArrayList<>();
    for (long piece = 0; piece < count; piece++) {
      long from = part.start() + piece * part.size() / count;
      pieces.add(new Slice(from, part.start() + (piece + 1) * part.size() / count - from));
    }
    return pieces;
  }

  private void send(long time, TreeMap<Long, List<Message>> arriving) {
    for (List<Link> from : links) {
      for (Link link : from) {
        if (!link.waiting.isEmpty() && link.isFree(time)) {
          Slice slice = link.waiting.removeFirst();
          link.last = new Message(link, slice, time);
          messages.add(link.last);
          arriving.computeIfAbsent(link.last.end(), key -> new ArrayList<>()).add(link.last);
        }
      }
    }
  }

  /** The same order of messages at all devices can't end in a deadlock. */
  private Schedule inStartOrder() {
    ScheduleBuilder builder = new ScheduleBuilder(collective);
    for (Message message : messages) {
      send(message, builder);
      receive(message, builder);
    }
    return builder.build();
  }

  /**
   * An order of all sends and receives in which each message is sent after the one before it on its
   * link was received, so that one message in a channel is enough.
   */
  private Schedule inTimeOrder() {
    TreeMap<Long, List<Message>> sends = new TreeMap<>();
    TreeMap<Long, List<Message>> receives = new TreeMap<>();
    for (Message message : messages) {
      sends.computeIfAbsent(message.start, key -> new ArrayList<>()).add(message);
      receives.computeIfAbsent(message.end(), key -> new ArrayList<>()).add(message);
    }
    Set<Long> times = new TreeSet<>(sends.keySet());
    times.addAll(receives.keySet());
    ScheduleBuilder builder = new ScheduleBuilder(collective);
    for (long time : times) {
      List<Message> open = new ArrayList<>(sends.getOrDefault(time, List.of()));
      List<Message> arriving = new ArrayList<>(receives.getOrDefault(time, List.of()));
      arriving.sort(Comparator.comparingInt(this::rank));
      Set<Message> waiting = new HashSet<>(arriving);
      sendReady(open, waiting, builder);
      int rank = 0;
      for (Message message : arriving) {
        if (rank(message) > rank) {
          sendReady(open, waiting, builder);
          rank = rank(message);
        }
        receive(message, builder);
        waiting.remove(message);
      }
      sendReady(open, waiting, builder);
    }
    return builder.build();
  }

  /** Returns the place of a message's sender among the neighbours of its receiver. */
  private int rank(Message message) {
    int child = tree.children(message.link.to).indexOf(message.link.from);
    return child >= 0 ? child : tree.children(message.link.to).size();
  }

  /** Sends messages whose elements, and the message before, have arrived. */
  private static void sendReady(List<Message> open, Set<Message> waiting, ScheduleBuilder builder) {
    for (Message message : List.copyOf(open)) {
      boolean waits =
          waiting.contains(message.before)
              || waiting.stream()
                  .anyMatch(
                      other ->
                          other.link.to == message.link.from
                              && other.slice.overlaps(message.slice));
      if (!waits) {
        send(message, builder);
        open.remove(message);
      }
    }
  }

  private static void send(Message message, ScheduleBuilder builder) {
    builder.send(message.link.from, message.link.to, List.of(message.slice));
  }

  private static void receive(Message message, ScheduleBuilder builder) {
    builder.receive(message.link.to, message.link.from, List.of(message.slice), Combine.REPLACE);
  }
}
