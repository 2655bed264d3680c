package io.partita.passes.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Slice;
import io.partita.ir.program.Step;
import io.partita.ir.program.Step.Receive;
import io.partita.ir.program.Step.Send;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Proves that a schedule ends and gives what its collective asks for, however fast devices are.
 *
 * <p>A channel leads from each device to each other and holds {@code capacity} messages in order; a
 * send is done when the channel has room, or for a capacity of 0 when the message is received. The
 * n-th receive from a device gets the n-th message that it sends. So each step waits for given
 * others only: the one before it, the n-th receive for the n-th send, and the n-th send for receive
 * n - capacity. No step waits for ever exactly when these edges form no circle, and then the
 * outcome doesn't depend on timing.
 */
public final class ScheduleProof {
  private static final int NONE = -1;
  private static final int LONGEST_CIRCLE_IN_A_MESSAGE = 12;

  /** A step: that of a device at an index, from 0. */
  public record Position(int device, int index) {}

  private final Schedule schedule;
  private final int capacity;
  private final int[] firsts;
  private final List<Position> positions = new ArrayList<>();

  /** For each step, the one at the other end of its message. */
  private final int[] partners;

  /** For each step, the second one that it waits for, besides the one before it. */
  private final int[] awaited;

  private ScheduleProof(Schedule schedule, int capacity) {
    this.schedule = schedule;
    this.capacity = capacity;
    firsts = new int[schedule.steps().size() + 1];
    for (int device = 0; device < schedule.steps().size(); device++) {
      for (int index = 0; index < schedule.steps().get(device).size(); index++) {
        positions.add(new Position(device, index));
      }
      firsts[device + 1] = positions.size();
    }
    partners = new int[positions.size()];
    awaited = new int[positions.size()];
    Arrays.fill(awaited, NONE);
  }

  /**
   * @param capacity messages that each channel holds
   * @return all steps in an order in which they can happen
   * @throws PartitaException with a {@link CollectiveCode} when it can't be proved
   */
  public static List<Position> verify(Schedule schedule, int capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("a capacity of " + capacity);
    }
    ScheduleProof proof = new ScheduleProof(schedule, capacity);
    proof.steps();
    proof.messages();
    List<Position> order = proof.order();
    new ResultProof(schedule).verify(order);
    return order;
  }

  static String where(Schedule schedule, Position position) {
    return schedule.collective()
        + ", device "
        + position.device()
        + ", step "
        + position.index()
        + " ("
        + step(schedule, position)
        + ")";
  }

  static Step step(Schedule schedule, Position position) {
    return schedule.steps().get(position.device()).get(position.index());
  }

  private Step step(int number) {
    return step(schedule, positions.get(number));
  }

  private PartitaException error(
      CollectiveCode code, int number, String expected, String found, String remedy) {
    return new PartitaException(
        code, where(schedule, positions.get(number)), expected, found, remedy);
  }

  private void steps() {
    long elements = schedule.collective().elements();
    for (int number = 0; number < positions.size(); number++) {
      Step step = step(number);
      if (step.peer() < 0
          || step.peer() >= schedule.steps().size()
          || step.peer() == positions.get(number).device()) {
        throw error(
            CollectiveCode.STEP, number, "another device", "device " + step.peer(), "correct it");
      }
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

  /** Finds both ends of each message, and what waits for what. */
  private void messages() {
    int devices = schedule.steps().size();
    List<List<Integer>> sends = new ArrayList<>();
    List<List<Integer>> receives = new ArrayList<>();
    for (int channel = 0; channel < devices * devices; channel++) {
      sends.add(new ArrayList<>());
      receives.add(new ArrayList<>());
    }
    for (int number = 0; number < positions.size(); number++) {
      int device = positions.get(number).device();
      switch (step(number)) {
        case Send send -> sends.get(device * devices + send.to()).add(number);
        case Receive receive -> receives.get(receive.from() * devices + device).add(number);
      }
    }
    for (int channel = 0; channel < devices * devices; channel++) {
      match(sends.get(channel), receives.get(channel));
    }
  }

  private void match(List<Integer> sends, List<Integer> receives) {
    int count = Math.min(sends.size(), receives.size());
    for (int message = 0; message < count; message++) {
      int send = sends.get(message);
      int receive = receives.get(message);
      if (step(send).bytes() != step(receive).bytes()
          || !step(send).slices().equals(step(receive).slices())) {
        throw error(
            CollectiveCode.MISMATCH,
            receive,
            step(receive).bytes() + " B for " + step(receive).slices(),
            step(send).bytes()
                + " B of "
                + step(send).slices()
                + " by step "
                + positions.get(send).index()
                + " of device "
                + positions.get(send).device(),
            "receive in the order in which is sent");
      }
      partners[send] = receive;
      partners[receive] = send;
      if (capacity > 0) {
        awaited[receive] = send;
        awaited[send] = message < capacity ? NONE : receives.get(message - capacity);
      }
    }
    if (sends.size() != receives.size()) {
      boolean sent = sends.size() > count;
      throw error(
          CollectiveCode.UNMATCHED,
          sent ? sends.get(count) : receives.get(count),
          sent ? "a receive for each send" : "a send for each receive",
          receives.size() + " receives for " + sends.size() + " sends",
          sent ? "add a receive, or remove the send" : "add a send, or remove the receive");
    }
  }

  private boolean isRendezvous() {
    return capacity == 0;
  }

  /** Both ends of a rendezvous are one event, which has the send's number. */
  private int event(int number) {
    return isRendezvous() && step(number) instanceof Receive ? partners[number] : number;
  }

  /** The events that an event waits for; at most two. */
  private int[] waitsFor(int event) {
    int before = before(event);
    int second = isRendezvous() ? before(partners[event]) : awaited[event];
    return new int[] {before, second};
  }

  private int before(int number) {
    return positions.get(number).index() == 0 ? NONE : event(number - 1);
  }

  /** Sorts the events topologically. */
  private List<Position> order() {
    int[] open = new int[positions.size()];
    int[][] waiting = new int[positions.size()][];
    int events = 0;
    for (int event = 0; event < positions.size(); event++) {
      if (event(event) == event) {
        events++;
        for (int other : waitsFor(event)) {
          if (other != NONE) {
            open[event]++;
            waiting[other] = append(waiting[other], event);
          }
        }
      }
    }
    int[] queue = new int[events];
    int ready = 0;
    for (int event = 0; event < positions.size(); event++) {
      if (event(event) == event && open[event] == 0) {
        queue[ready++] = event;
      }
    }
    List<Position> order = new ArrayList<>();
    for (int done = 0; done < ready; done++) {
      int event = queue[done];
      order.add(positions.get(event));
      if (isRendezvous()) {
        order.add(positions.get(partners[event]));
      }
      for (int other : waiting[event] == null ? new int[0] : waiting[event]) {
        if (--open[other] == 0) {
          queue[ready++] = other;
        }
      }
    }
    if (ready < events) {
      throw deadlock(open);
    }
    return order;
  }

  /** An event has at most two that wait for it with a buffer, and two without. */
  private static int[] append(int[] list, int event) {
    int[] longer = list == null ? new int[1] : Arrays.copyOf(list, list.length + 1);
    longer[longer.length - 1] = event;
    return longer;
  }

  /**
   * Walks from an event that never happens to one that it waits for, until the walk is a circle.
   */
  private PartitaException deadlock(int[] open) {
    int at = 0;
    while (event(at) != at || open[at] == 0) {
      at++;
    }
    List<Integer> walk = new ArrayList<>();
    int[] seen = new int[positions.size()];
    Arrays.fill(seen, NONE);
    while (seen[at] == NONE) {
      seen[at] = walk.size();
      walk.add(at);
      int next = NONE;
      for (int other : waitsFor(at)) {
        if (other != NONE && open[other] > 0) {
          next = other;
        }
      }
      at = next;
    }
    List<Integer> circle = walk.subList(seen[at], walk.size());
    List<String> texts = new ArrayList<>();
    for (int event : circle.subList(0, Math.min(circle.size(), LONGEST_CIRCLE_IN_A_MESSAGE))) {
      Position position = positions.get(event);
      texts.add(
          "device " + position.device() + " step " + position.index() + " (" + step(event) + ")");
    }
    if (circle.size() > texts.size()) {
      texts.add((circle.size() - texts.size()) + " more");
    }
    texts.add("device " + positions.get(at).device() + " step " + positions.get(at).index());
    return new PartitaException(
        CollectiveCode.DEADLOCK,
        schedule.collective() + ", channels of " + capacity + " messages",
        "steps that wait for earlier ones only",
        String.join(" waits for ", texts),
        "receive before sending on one of these devices, or let channels hold more messages");
  }
}
