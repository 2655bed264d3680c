package io.partita.passes.planning.cost;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.target.Channel;
import io.partita.ir.type.ElementType;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.Resource;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * One run of a program on a target. Devices run their nodes and the steps of exchanges in order; a
 * send ends when its channel has room for the message.
 */
final class ProgramTimeline {
  private static final int EXCHANGED_BITS = 32;

  private final TargetTimeline timeline;
  private final PlanOptions options;
  private final List<DeviceRun> devices;
  private final SyncBlocks blocks;
  private final int capacity;
  private final Map<Wire, Deque<Integer>> arrivals = new HashMap<>();
  private final Map<Wire, List<Integer>> received = new HashMap<>();
  private final Map<Wire, Integer> sent = new HashMap<>();

  private final SyncEvents syncs = new SyncEvents();
  private final SortedMap<String, Long> linkBytes = new TreeMap<>();
  private double linkJoules;

  private record Wire(int from, int to) {}

  ProgramTimeline(
      TargetTimeline timeline, PlanOptions options, List<DeviceRun> devices, SyncBlocks blocks) {
    this.blocks = blocks;
    this.timeline = timeline;
    this.options = options;
    this.devices = devices;
    this.capacity = timeline.buffer();
  }

  /** Adds all events. */
  void run() {
    boolean moves = true;
    boolean waits = true;
    while (moves) {
      moves = false;
      waits = false;
      for (DeviceRun device : devices) {
        moves |= advance(device);
        waits |= device.toExchange() != null;
      }
    }
    if (waits) {
      throw new IllegalStateException("devices wait for each other for ever");
    }
  }

  /** Runs a device until it has to wait; returns whether it made progress. */
  private boolean advance(DeviceRun device) {
    boolean moves = false;
    for (Node node = device.toExchange(); node != null; node = device.toExchange()) {
      Exchange exchange = (Exchange) node.op();
      syncs.begin(exchange.sync(), device.number(), node.name(), device.reached());
      while (device.step(exchange) != null) {
        boolean done =
            switch (device.step(exchange)) {
              case Send send -> send(device, send, exchange);
              case Receive receive -> receive(device, receive, exchange);
            };
        if (!done) {
          return moves;
        }
        moves = true;
        device.nextStep();
      }
      syncs.end(exchange.sync(), device.reached());
      device.nextNode();
      moves = true;
    }
    return moves;
  }

  /** Returns the bytes of an element in a message. */
  private ElementType exchanged(Exchange exchange) {
    ElementType element = exchange.element();
    boolean widened =
        options.assumptions().floats().isPresent()
            && element.isFloat()
            && element.bits() < EXCHANGED_BITS;
    return widened ? ElementType.F32 : element;
  }

  private long bytes(Exchange exchange, long bytes) {
    return bytes * exchanged(exchange).bits() / exchange.element().bits();
  }

  private boolean send(DeviceRun device, Send send, Exchange exchange) {
    Wire wire = new Wire(device.number(), send.to());
    DeviceRun receiver = devices.get(send.to());
    int number = sent.getOrDefault(wire, 0);
    int room = device.reached();
    if (capacity == 0) {
      if (!awaits(receiver, device)) {
        return false;
      }
      room = receiver.reached();
    } else if (number >= capacity) {
      List<Integer> before = received.getOrDefault(wire, List.of());
      if (before.size() <= number - capacity) {
        return false;
      }
      room = before.get(number - capacity);
    }
    sent.put(wire, number + 1);
    long bytes = bytes(exchange, send.bytes());
    device.reached(timeline.join(device.reached(), room));
    int arrived =
        timeline
            .send(
                device.number(),
                send.to(),
                "device " + device.number() + " " + send,
                bytes,
                device.reached())
            .arrived();
    if (capacity == 0) {
      device.reached(arrived);
    }
    arrivals.computeIfAbsent(wire, key -> new ArrayDeque<>()).add(arrived);
    syncs.message(exchange.sync(), bytes);
    for (Channel channel : timeline.route(device.number(), send.to())) {
      linkBytes.merge(channel.name(), bytes, Long::sum);
      linkJoules += bytes * channel.link().joulesPerByte();
    }
    return true;
  }

  private static boolean awaits(DeviceRun receiver, DeviceRun sender) {
    Node node = receiver.toExchange();
    return node != null
        && node.op() instanceof Exchange exchange
        && receiver.step(exchange) instanceof Receive receive
        && receive.from() == sender.number();
  }

  private boolean receive(DeviceRun device, Receive receive, Exchange exchange) {
    Wire wire = new Wire(receive.from(), device.number());
    Deque<Integer> waiting = arrivals.get(wire);
    if (waiting == null || waiting.isEmpty()) {
      return false;
    }
    device.reached(timeline.join(device.reached(), waiting.remove()));
    if (receive.combine() != Combine.REPLACE) {
      device.reduce(receive, exchanged(exchange));
    }
    received.computeIfAbsent(wire, key -> new ArrayList<>()).add(device.reached());
    return true;
  }

  /** Plays all events. */
  PlanReport report(
      String target,
      Mesh mesh,
      List<Shortage> shortages,
      Optional<Consumer<RecordedTimeline>> recorder) {
    int last = timeline.join(devices.stream().mapToInt(DeviceRun::reached).toArray());
    Outcome outcome = timeline.play(last);
    recorder.ifPresent(each -> each.accept(timeline.recorded(outcome)));
    SortedMap<String, Double> joules = new TreeMap<>();
    SortedMap<String, Long> bytes = new TreeMap<>();
    for (DeviceRun device : devices) {
      device.joules().forEach((what, spent) -> joules.merge(what, spent, Double::sum));
      device.bytes().forEach((level, moved) -> bytes.merge(level, moved, Long::sum));
    }
    if (!linkBytes.isEmpty()) {
      String links = Resource.Kind.LINKS.text();
      joules.put(links, linkJoules);
      bytes.put(links, linkBytes.values().stream().mapToLong(Long::longValue).sum());
    }
    return new PlanReport(
        target,
        mesh,
        blocks.count(),
        devices.stream().map(DeviceRun::report).toList(),
        outcome.seconds(),
        OptionalDouble.empty(),
        outcome.end(),
        new TreeMap<>(outcome.breakdown()),
        joules,
        bytes,
        linkBytes,
        blocks.reports(syncs.times(outcome)),
        shortages);
  }
}
