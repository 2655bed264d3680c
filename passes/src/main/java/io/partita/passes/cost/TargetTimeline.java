package io.partita.passes.cost;

import io.partita.ir.target.Channel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Link;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A timeline of what the devices of a target do: compute, move bytes between their memories, send.
 * Times follow from the target's figures.
 */
public final class TargetTimeline {
  /** More tiles than this change the first and the last tile's share of the time by under 1 %. */
  private static final int MOST_TILES = 128;

  private final List<ChipKind> chips;
  private final Topology topology;
  private final Timeline timeline = new Timeline();
  private final int[] cores;
  private final List<Map<String, Integer>> channels = new ArrayList<>();
  private final int[] links;
  private final Map<Way, List<DmaChannel>> ways = new HashMap<>();

  private record Way(String chip, String from, String to) {}

  public TargetTimeline(TargetDescription target) {
    chips = target.devices();
    topology = Topology.of(target);
    cores = new int[chips.size()];
    for (int device = 0; device < chips.size(); device++) {
      ChipKind chip = chips.get(device);
      String name = "device " + device + " ";
      cores[device] =
          timeline.resource(
              new Resource(
                  name + "cores",
                  Resource.Kind.COMPUTE,
                  device,
                  chip.cores() * chip.wattsPerCore(),
                  0));
      Map<String, Integer> numbers = new HashMap<>();
      for (DmaChannel channel : chip.channels()) {
        numbers.put(
            channel.name(),
            timeline.resource(
                new Resource(
                    name + channel.name(),
                    new Resource.Kind(farther(chip, channel)),
                    device,
                    0,
                    channel.joulesPerByte())));
      }
      channels.add(numbers);
    }
    links = new int[topology.channels().size()];
    for (Channel channel : topology.channels()) {
      links[channel.number()] =
          timeline.resource(
              new Resource(
                  channel.name(), Resource.Kind.LINKS, -1, 0, channel.link().joulesPerByte()));
    }
  }

  /** The paper's levels: L3 for L3 to L2, L2 for L2 to L1. */
  private static String farther(ChipKind chip, DmaChannel channel) {
    int from = chip.memories().indexOf(chip.memory(channel.from()).orElseThrow());
    int to = chip.memories().indexOf(chip.memory(channel.to()).orElseThrow());
    return chip.memories().get(Math.max(from, to)).name();
  }

  public ChipKind chip(int device) {
    return chips.get(device);
  }

  public int devices() {
    return chips.size();
  }

  public Outcome play() {
    return timeline.play();
  }

  public int size() {
    return timeline.size();
  }

  /** An event at which all of {@code after} have ended. */
  public int join(int... after) {
    return timeline.join(after);
  }

  /** The cores of a device work for so many cycles. */
  public int compute(int device, String label, double cycles, int... after) {
    return timeline.event(cores[device], label, cycles / chips.get(device).hertz(), 0, 0, after);
  }

  /**
   * Bytes move between two memories of a device, over others where there's no channel between them.
   *
   * @return the event at whose end they have arrived
   */
  public int transfer(int device, String from, String to, String label, long bytes, int... after) {
    if (bytes == 0 || from.equals(to)) {
      return join(after);
    }
    int[] last = after;
    ChipKind chip = chips.get(device);
    List<DmaChannel> way =
        ways.computeIfAbsent(new Way(chip.name(), from, to), key -> way(chip, from, to));
    for (DmaChannel channel : way) {
      last = new int[] {move(device, channel, label, bytes, last)};
    }
    return last[0];
  }

  private int move(int device, DmaChannel channel, String label, long bytes, int... after) {
    double seconds = channel.cycles(bytes, 0) / chips.get(device).hertz();
    return timeline.event(
        channels.get(device).get(channel.name()), label, seconds, 0, bytes, after);
  }

  /** The fewest channels from one memory to another, breadth first. */
  private static List<DmaChannel> way(ChipKind chip, String from, String to) {
    Map<String, DmaChannel> arrivals = new HashMap<>();
    Map<String, String> before = new HashMap<>();
    Deque<String> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty() && !before.containsKey(to)) {
      String at = open.remove();
      for (io.partita.ir.target.Memory memory : chip.memories()) {
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

  /**
   * A message from one device to another. Devices between them pass it on when they have all of it.
   *
   * @return the event at whose end it has arrived
   */
  public int send(int from, int to, String label, long bytes, int... after) {
    List<Channel> route = topology.route(from, to);
    if (route.isEmpty()) {
      if (from == to) {
        return join(after);
      }
      throw new IllegalArgumentException("no way from device " + from + " to " + to);
    }
    int[] last = after;
    for (Channel channel : route) {
      Link link = channel.link();
      double seconds = link.startupSeconds() + bytes / link.bytesPerSecond();
      last =
          new int[] {
            timeline.event(
                links[channel.number()], label, seconds, link.latencySeconds(), bytes, last)
          };
    }
    return last[0];
  }

  /** Messages that any channel holds; 0 when a send waits for its receive. */
  public int buffer() {
    return topology.channels().stream().mapToInt(c -> c.link().buffer()).min().orElse(0);
  }

  /**
   * A kernel in tiles of half the working memory: one is computed while the next is loaded and the
   * one before stored, and a tile's place is free again when the tile after it begins.
   *
   * @param weights the memory that the weights are in
   * @param activations the memory that inputs come from and outputs go to
   * @return the event at whose end all results are stored
   */
  public int kernel(
      int device, String label, KernelCost cost, String weights, String activations, int... after) {
    ChipKind chip = chips.get(device);
    String working = chip.working().name();
    long tiles = Math.clamp(Math.ceilDiv(2 * cost.bytes(), chip.working().bytes()), 1, MOST_TILES);
    double cycles = cost.cycles(chip) / tiles;
    int begin = join(after);
    int[] computed = {begin, begin};
    int stored = begin;
    for (long tile = 0; tile < tiles; tile++) {
      int place = computed[(int) (tile % 2)];
      int loaded =
          transfer(device, weights, working, label, share(cost.weightBytes(), tile, tiles), place);
      int input =
          transfer(
              device, activations, working, label, share(cost.inputBytes(), tile, tiles), place);
      int done = compute(device, label, cycles, loaded, input);
      computed[(int) (tile % 2)] = done;
      stored =
          transfer(
              device, working, activations, label, share(cost.outputBytes(), tile, tiles), done);
    }
    return join(stored, computed[0], computed[1]);
  }

  private static long share(long bytes, long tile, long tiles) {
    return bytes / tiles + (tile < bytes % tiles ? 1 : 0);
  }
}
