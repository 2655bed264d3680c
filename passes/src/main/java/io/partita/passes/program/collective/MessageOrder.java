package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Proves in linear time that devices that exchange messages terminate, regardless of their speed.
 *
 * <p>A channel from each device to each other one holds {@code capacity} messages in order. A send
 * ends when the channel has room or, with a capacity of 0, when its message is received. The n-th
 * receive from a device gets the n-th message that it sends. So the dependencies of each step are
 * fixed: on the previous step, of the n-th receive on the n-th send, and of the n-th send on
 * receive n - capacity. All steps terminate if and only if these edges form no cycle, and then the
 * result doesn't depend on timing.
 */
final class MessageOrder {
  private static final int NONE = -1;
  private static final int MAX_SHOWN_CYCLE = 12;

  private final MessagePlan plan;
  private final int capacity;
  private final int count;

  /** All steps, numbered device by device. */
  private final List<Step> steps = new ArrayList<>();

  private final int[] devices;
  private final int[] indices;

  /** The step at the other end of the message of each step. */
  private final int[] partners;

  /** The second dependency of each step, besides the previous step. */
  private final int[] awaited;

  private MessageOrder(MessagePlan plan, int capacity) {
    this.plan = plan;
    this.capacity = capacity;
    List<List<Step>> byDevice = plan.steps();
    count = byDevice.size();
    byDevice.forEach(steps::addAll);
    devices = new int[steps.size()];
    indices = new int[steps.size()];
    partners = new int[steps.size()];
    awaited = new int[steps.size()];
    Arrays.fill(awaited, NONE);
    int number = 0;
    for (int device = 0; device < count; device++) {
      for (int index = 0; index < byDevice.get(device).size(); index++) {
        devices[number] = device;
        indices[number++] = index;
      }
    }
  }

  /**
   * @param capacity the number of messages that each channel holds
   * @return all steps in a possible order
   * @throws PartitaException with a {@link CollectiveCode} if there is no such order
   */
  static List<Position> verify(MessagePlan plan, int capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("a capacity of " + capacity);
    }
    MessageOrder order = new MessageOrder(plan, capacity);
    order.requireSense();
    order.match();
    return order.sorted();
  }

  private Position position(int number) {
    return new Position(devices[number], indices[number]);
  }

  private PartitaException error(
      CollectiveCode code, int number, String expected, String found, String remedy) {
    String where = plan.scope() + ", " + plan.where(position(number));
    return new PartitaException(code, where, expected, found, remedy);
  }

  private void requireSense() {
    for (int number = 0; number < steps.size(); number++) {
      Step step = steps.get(number);
      if (step.peer() < 0 || step.peer() >= count || step.peer() == devices[number]) {
        throw error(
            CollectiveCode.STEP, number, "another device", "device " + step.peer(), "correct it");
      }
      long elements = plan.elements(position(number));
      long end = 0;
      for (Slice slice : step.slices()) {
        if (slice.start() < end || slice.size() == 0 || slice.end() > elements) {
          throw error(
              CollectiveCode.STEP,
              number,
              "ascending slices of " + elements + " elements, none empty",
              step.slices().toString(),
              "correct the slices");
        }
        end = slice.end();
      }
    }
  }

  /** The steps at both ends of the channel from one device to another, in order. */
  private static final class Channel {
    int[] sends = new int[4];
    int[] receives = new int[4];
    int sent;
    int received;

    void send(int number) {
      sends = sent == sends.length ? Arrays.copyOf(sends, 2 * sent) : sends;
      sends[sent++] = number;
    }

    void receive(int number) {
      receives = received == receives.length ? Arrays.copyOf(receives, 2 * received) : receives;
      receives[received++] = number;
    }
  }

  /** Finds both ends of each message, and all dependencies. */
  private void match() {
    Map<Long, Channel> channels = new LinkedHashMap<>();
    for (int number = 0; number < steps.size(); number++) {
      long device = devices[number];
      switch (steps.get(number)) {
        case Send send ->
            channels.computeIfAbsent(device << 32 | send.to(), key -> new Channel()).send(number);
        case Receive receive ->
            channels
                .computeIfAbsent((long) receive.from() << 32 | device, key -> new Channel())
                .receive(number);
      }
    }
    channels.values().forEach(this::match);
  }

  private void match(Channel channel) {
    int count = Math.min(channel.sent, channel.received);
    for (int message = 0; message < count; message++) {
      int send = channel.sends[message];
      int receive = channel.receives[message];
      if (!fits(send, receive)) {
        throw error(
            CollectiveCode.MISMATCH,
            receive,
            steps.get(receive).bytes() + " B for " + steps.get(receive).slices(),
            steps.get(send).bytes()
                + " B of "
                + steps.get(send).slices()
                + " by "
                + plan.name(position(send), ", "),
            "receive in the order of the sends");
      }
      partners[send] = receive;
      partners[receive] = send;
      if (capacity > 0) {
        awaited[receive] = send;
        awaited[send] = message < capacity ? NONE : channel.receives[message - capacity];
      }
    }
    if (channel.sent != channel.received) {
      boolean sent = channel.sent > count;
      throw error(
          CollectiveCode.UNMATCHED,
          sent ? channel.sends[count] : channel.receives[count],
          sent ? "a receive for each send" : "a send for each receive",
          channel.received + " receives for " + channel.sent + " sends",
          sent ? "add a receive, or remove the send" : "add a send, or remove the receive");
    }
  }

  private boolean fits(int send, int receive) {
    Step out = steps.get(send);
    Step in = steps.get(receive);
    return out.bytes() == in.bytes()
        && out.slices().equals(in.slices())
        && plan.collective(position(send)) == plan.collective(position(receive));
  }

  private boolean isRendezvous() {
    return capacity == 0;
  }

  /** Both ends of a rendezvous are one event, with the number of the send. */
  private int event(int number) {
    return isRendezvous() && steps.get(number) instanceof Receive ? partners[number] : number;
  }

  private boolean isEvent(int number) {
    return event(number) == number;
  }

  private int before(int number) {
    return indices[number] == 0 ? NONE : event(number - 1);
  }

  /** Returns the second dependency of an event, besides the previous event. */
  private int second(int event) {
    return isRendezvous() ? before(partners[event]) : awaited[event];
  }

  /** Sorts the events topologically. */
  private List<Position> sorted() {
    int[] open = new int[steps.size()];
    // At most two events depend on an event: the next step of each of its devices, or a partner.
    int[][] waiting = {filled(steps.size()), filled(steps.size())};
    int events = 0;
    for (int event = 0; event < steps.size(); event++) {
      if (isEvent(event)) {
        events++;
        open[event] += await(waiting, before(event), event);
        open[event] += await(waiting, second(event), event);
      }
    }
    int[] queue = new int[events];
    int ready = 0;
    for (int event = 0; event < steps.size(); event++) {
      if (isEvent(event) && open[event] == 0) {
        queue[ready++] = event;
      }
    }
    List<Position> order = new ArrayList<>(steps.size());
    for (int done = 0; done < ready; done++) {
      int event = queue[done];
      order.add(position(event));
      if (isRendezvous()) {
        order.add(position(partners[event]));
      }
      for (int[] each : waiting) {
        int other = each[event];
        if (other != NONE && --open[other] == 0) {
          queue[ready++] = other;
        }
      }
    }
    if (ready < events) {
      throw deadlock(open);
    }
    return order;
  }

  private static int[] filled(int size) {
    int[] filled = new int[size];
    Arrays.fill(filled, NONE);
    return filled;
  }

  /** Adds a dependency of {@code event}; returns 1, or 0 if there is none. */
  private static int await(int[][] waiting, int other, int event) {
    if (other == NONE) {
      return 0;
    }
    int place = waiting[0][other] == NONE ? 0 : 1;
    if (waiting[place][other] != NONE) {
      throw new AssertionError("three steps wait for one");
    }
    waiting[place][other] = event;
    return 1;
  }

  /** Follows dependencies from an event that never happens until they form a cycle. */
  private PartitaException deadlock(int[] open) {
    int at = 0;
    while (!isEvent(at) || open[at] == 0) {
      at++;
    }
    List<Integer> walk = new ArrayList<>();
    int[] seen = filled(steps.size());
    while (seen[at] == NONE) {
      seen[at] = walk.size();
      walk.add(at);
      int second = second(at);
      at = second != NONE && open[second] > 0 ? second : before(at);
    }
    List<Integer> circle = walk.subList(seen[at], walk.size());
    List<String> texts = new ArrayList<>();
    for (int event : circle.subList(0, Math.min(circle.size(), MAX_SHOWN_CYCLE))) {
      texts.add(plan.name(position(event), " ") + " (" + steps.get(event) + ")");
    }
    if (circle.size() > texts.size()) {
      texts.add((circle.size() - texts.size()) + " more");
    }
    texts.add(plan.name(position(at), " "));
    return new PartitaException(
        CollectiveCode.DEADLOCK,
        plan.scope() + ", channels of " + capacity + " messages",
        "steps that wait for earlier ones only",
        String.join(" waits for ", texts),
        "receive before sending on one of these devices, or increase the capacity of channels");
  }
}
