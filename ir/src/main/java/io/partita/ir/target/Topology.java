package io.partita.ir.target;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/**
 * The channels between the devices of a target, and the route of each message: a path with the
 * fewest links; ties are broken by the order of connections.
 */
public final class Topology {
  private final int devices;
  private final List<Channel> channels = new ArrayList<>();
  private final List<List<Channel>> leaving = new ArrayList<>();

  /** The channels of each device to switches. */
  private final List<List<Channel>> switched = new ArrayList<>();

  private final List<Channel> shared = new ArrayList<>();

  /**
   * The last channel of the route from each source to each destination, or null if there is no
   * route.
   */
  private final Channel[][] arrival;

  private Topology(int devices) {
    this.devices = devices;
    this.arrival = new Channel[devices][];
    for (int device = 0; device < devices; device++) {
      leaving.add(new ArrayList<>());
      switched.add(new ArrayList<>());
    }
  }

  /** Creates the topology of a target whose links and pairs are valid. */
  public static Topology of(TargetDescription target) {
    Topology topology = new Topology(target.deviceCount());
    for (Connection connection : target.connections()) {
      topology.connect(connection, target.link(connection.link()).orElseThrow());
    }
    return topology;
  }

  private void connect(Connection connection, Link link) {
    switch (connection.shape()) {
      case PAIR -> join(link, connection.number("first"), connection.number("second"));
      case FULL -> {
        for (int a = 0; a < devices; a++) {
          for (int b = a + 1; b < devices; b++) {
            join(link, a, b);
          }
        }
      }
      case LINE -> joinLine(link);
      case RING -> {
        joinLine(link);
        if (devices > 2) {
          join(link, devices - 1, 0);
        }
      }
      case TREE -> joinTree(link, connection.number("group"));
      case ROWS -> joinGrid(link, connection.number("width"), 1);
      case COLUMNS -> joinGrid(link, connection.number("width"), connection.number("width"));
      case SWITCH -> {
        for (int a = 0; a < devices; a++) {
          switched.get(a).add(channel(link, a, -1));
        }
      }
      case SHARED -> shared.add(channel(link, -1, -1));
    }
  }

  private void joinLine(Link link) {
    for (int a = 0; a + 1 < devices; a++) {
      join(link, a, a + 1);
    }
  }

  private void joinTree(Link link, int group) {
    for (long stride = 1; group > 1 && stride < devices; stride *= group) {
      for (long first = 0; first < devices; first += stride * group) {
        for (long a = first + stride; a < Math.min(devices, first + stride * group); a += stride) {
          join(link, (int) first, (int) a);
        }
      }
    }
  }

  /** Neighbours at a distance of 1 are in one row; at {@code width}, in one column. */
  private void joinGrid(Link link, int width, int distance) {
    for (int a = 0; a + distance < devices; a++) {
      if (distance > 1 || width == 1 || a % width + 1 < width) {
        join(link, a, a + distance);
      }
    }
  }

  private void join(Link link, int a, int b) {
    leaving.get(a).add(channel(link, a, b));
    leaving.get(b).add(channel(link, b, a));
  }

  private Channel channel(Link link, int from, int to) {
    Channel channel = new Channel(channels.size(), link, from, to);
    channels.add(channel);
    return channel;
  }

  public int devices() {
    return devices;
  }

  /** Returns the number of messages that any channel holds; 0 if a send waits for its receive. */
  public int buffer() {
    return channels.stream().mapToInt(channel -> channel.link().buffer()).min().orElse(0);
  }

  public List<Channel> channels() {
    return Collections.unmodifiableList(channels);
  }

  /**
   * Returns the channels of a route in order; empty if there is no route, or if source and
   * destination are the same device.
   */
  public List<Channel> route(int from, int to) {
    if (from == to) {
      return List.of();
    }
    for (Channel direct : leaving.get(from)) {
      if (direct.to() == to) {
        return List.of(direct);
      }
    }
    if (!switched.get(from).isEmpty()) {
      return List.of(switched.get(from).getFirst());
    }
    if (!shared.isEmpty()) {
      return List.of(shared.getFirst());
    }
    Channel[] arrivals = arrivals(from);
    Deque<Channel> route = new ArrayDeque<>();
    for (int at = to; at != from; at = route.getFirst().from()) {
      if (arrivals[at] == null) {
        return List.of();
      }
      route.addFirst(arrivals[at]);
    }
    return List.copyOf(route);
  }

  /** Searches breadth first, so that the first channel to reach a device is on a shortest path. */
  private synchronized Channel[] arrivals(int from) {
    if (arrival[from] == null) {
      Channel[] found = new Channel[devices];
      boolean[] seen = new boolean[devices];
      seen[from] = true;
      Deque<Integer> open = new ArrayDeque<>(List.of(from));
      while (!open.isEmpty()) {
        for (Channel channel : leaving.get(open.remove())) {
          if (!seen[channel.to()]) {
            seen[channel.to()] = true;
            found[channel.to()] = channel;
            open.add(channel.to());
          }
        }
      }
      arrival[from] = found;
    }
    return arrival[from];
  }

  /**
   * Returns the devices that device 0 can't reach, and which can't reach it, because links carry
   * both directions.
   */
  List<Integer> unreachable() {
    if (devices == 0 || !shared.isEmpty() || !switched.getFirst().isEmpty()) {
      return List.of();
    }
    Channel[] found = arrivals(0);
    List<Integer> cut = new ArrayList<>();
    for (int device = 1; device < devices; device++) {
      if (found[device] == null) {
        cut.add(device);
      }
    }
    return cut;
  }

  @Override
  public String toString() {
    return Arrays.toString(channels.stream().map(Channel::name).toArray());
  }
}
