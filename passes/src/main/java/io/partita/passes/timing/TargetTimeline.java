package io.partita.passes.timing;

import io.partita.ir.target.Channel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Link;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A timeline of what the devices of a target do: compute, move bytes between their memories, send.
 * Times follow from the target's figures.
 */
public final class TargetTimeline {
  /**
   * Beyond this number of tiles, the share of the first and the last tile changes by less than 1 %.
   */
  private static final int MAX_TILES = 128;

  private final List<ChipKind> chips;
  private final Topology topology;
  private final int buffer;
  private final Timeline timeline = new Timeline();
  private final int[] cores;
  private final List<Map<String, Integer>> channels = new ArrayList<>();
  private final int[] links;
  private final Map<Route, List<DmaChannel>> routes = new HashMap<>();

  private record Route(String chip, String from, String to) {}

  public TargetTimeline(TargetDescription target) {
    chips = target.devices();
    topology = Topology.of(target);
    buffer = topology.buffer();
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
                    new Resource.Kind(TransferPaths.level(chip, channel)),
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

  public ChipKind chip(int device) {
    return chips.get(device);
  }

  public int devices() {
    return chips.size();
  }

  public Outcome play() {
    return timeline.play();
  }

  /** Plays the events, with the critical path to one of them; others may end later. */
  public Outcome play(int last) {
    return timeline.play(last);
  }

  /** Returns what each resource did; see {@link Timeline#recorded}. */
  public RecordedTimeline recorded(Outcome outcome) {
    return timeline.recorded(outcome);
  }

  public int size() {
    return timeline.size();
  }

  /** Adds an event at which all of {@code after} have ended. */
  public int join(int... after) {
    return timeline.join(after);
  }

  /** Adds work of the cores of a device, in cycles. */
  public int compute(int device, String label, double cycles, int... after) {
    return timeline.event(cores[device], label, cycles / chips.get(device).hertz(), 0, 0, after);
  }

  /** Adds work of the control core of a device while its other cores compute, in cycles. */
  public int control(int device, String label, double cycles, int... after) {
    return timeline.delay(label, cycles / chips.get(device).hertz(), after);
  }

  /**
   * Adds a transfer between two memories of a device, by way of others if there is no direct
   * channel.
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
        routes.computeIfAbsent(
            new Route(chip.name(), from, to), key -> TransferPaths.between(chip, from, to));
    for (DmaChannel channel : way) {
      last = new int[] {move(device, channel, label, bytes, last)};
    }
    return last[0];
  }

  /** Occupies a channel for a time. */
  public int occupy(
      int device, String channel, String label, double seconds, long bytes, int... after) {
    return timeline.event(channels.get(device).get(channel), label, seconds, 0, bytes, after);
  }

  private int move(int device, DmaChannel channel, String label, long bytes, int... after) {
    double seconds = channel.cycles(bytes, 0) / chips.get(device).hertz();
    return timeline.event(
        channels.get(device).get(channel.name()), label, seconds, 0, bytes, after);
  }

  /**
   * Adds a message from one device to another. Devices in between forward it when they have
   * received all of it.
   */
  public Sent send(int from, int to, String label, long bytes, int... after) {
    List<Channel> route = topology.route(from, to);
    if (route.isEmpty()) {
      if (from == to) {
        int now = join(after);
        return new Sent(now, now);
      }
      throw new IllegalArgumentException("no way from device " + from + " to " + to);
    }
    List<Integer> legs = new ArrayList<>();
    int[] last = after;
    for (Channel channel : route) {
      Link link = channel.link();
      double seconds = link.startupSeconds() + bytes / link.bytesPerSecond();
      last =
          new int[] {
            timeline.event(
                links[channel.number()], label, seconds, link.latencySeconds(), bytes, last)
          };
      legs.add(last[0]);
    }
    return new Sent(legs.getFirst(), legs.getLast());
  }

  /**
   * The events of a message.
   *
   * @param passed at whose end the first link of its route has passed it on
   * @param arrived at whose end it has arrived
   */
  public record Sent(int passed, int arrived) {}

  /** Returns the links on the route of a message. */
  public List<Channel> route(int from, int to) {
    return topology.route(from, to);
  }

  /** Returns the number of messages that any channel holds; 0 if a send waits for its receive. */
  public int buffer() {
    return buffer;
  }

  /**
   * Adds a kernel in tiles of half the working memory: a tile is computed while the next one is
   * loaded and the previous one is stored, and its buffer is free when the next tile begins.
   *
   * @param weights the memory that the weights are in
   * @param activations the memory that inputs come from and outputs go to
   * @return the event at whose end all results are stored
   */
  public int kernel(
      int device, String label, KernelCost cost, String weights, String activations, int... after) {
    ChipKind chip = chips.get(device);
    String working = chip.working().name();
    long tiles = Math.clamp(Math.ceilDiv(2 * cost.bytes(), chip.working().bytes()), 1, MAX_TILES);
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
