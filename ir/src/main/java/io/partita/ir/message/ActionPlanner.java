package io.partita.ir.message;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Actions.Unit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Decides when receives are posted and sends are awaited. Buffers are in two halves that units take
 * in turn, so that one is received while the one before is combined, unless units are too large.
 */
final class ActionPlanner {
  /**
   * A receive isn't posted so early that the device would wait for a new send: so many messages
   * must have been received since it was started.
   */
  private static final int SINCE = 2;

  private final List<Unit> units;
  private final List<Long> places;
  private final List<Action> actions = new ArrayList<>();
  private final List<Unit> sends = new ArrayList<>();

  /** The bytes of a half, and the number of halves. */
  private final long half;

  private final int halves;

  /** The unit that had the buffer of a unit before; -1 if there is none. */
  private final int[] occupants;

  /** The messages that had been received when each send was started, and until now. */
  private final List<Integer> since = new ArrayList<>();

  private int received;

  /** The sends that are known to have ended. */
  private int ended;

  /** The messages that have been posted and not awaited, and the first unit that isn't posted. */
  private int posted;

  private int next;

  ActionPlanner(List<Step> steps) {
    units = Unit.of(steps);
    places = new ArrayList<>(Collections.nCopies(steps.size(), 0L));
    half = units.stream().mapToLong(Unit::room).max().orElse(0);
    occupants = new int[units.size()];
    List<Integer> buffered = new ArrayList<>();
    int most = half > Unit.ROOM ? 1 : 2;
    for (int unit = 0; unit < units.size(); unit++) {
      occupants[unit] = -1;
      if (units.get(unit).room() > 0) {
        int turn = buffered.size();
        occupants[unit] = turn < most ? -1 : buffered.get(turn - most);
        for (int message = 0; message < units.get(unit).steps().size(); message++) {
          long place = turn % most * half + units.get(unit).place(message);
          places.set(units.get(unit).first() + message, place);
        }
        buffered.add(unit);
      }
    }
    halves = Math.min(most, buffered.size());
  }

  Actions plan() {
    for (int unit = 0; unit < units.size(); unit++) {
      boolean afterFinish = unit > 0 && !units.get(unit - 1).isSend();
      if (units.get(unit).isSend()) {
        send(units.get(unit), unit);
        if (afterFinish) {
          loadAfter(unit);
        }
      } else {
        if (afterFinish) {
          loadAfter(unit - 1);
        }
        postBefore(unit);
        finish(units.get(unit));
      }
    }
    return new Actions(actions, places, halves * half);
  }

  /**
   * Posts what may be posted before a unit. If it's the first to be received after a send, the
   * device has time for all, since it waits anyway; before another one only for those that are
   * received before the next send, for which others may wait.
   */
  private void postBefore(int unit) {
    boolean waits = unit == 0 || units.get(unit - 1).isSend();
    int end = waits ? units.size() : sendAfter(unit);
    while (next < end && (units.get(next).isSend() || mayPost(next, unit))) {
      if (!units.get(next).isSend()) {
        post(units.get(next), next);
      }
      next++;
    }
  }

  /** Returns the first send after a unit, or the number of units if there is none. */
  private int sendAfter(int unit) {
    int send = unit + 1;
    while (send < units.size() && !units.get(send).isSend()) {
      send++;
    }
    return send;
  }

  /** Whether a unit may be posted before another one is begun. */
  private boolean mayPost(int receive, int before) {
    if (receive == before) {
      return true;
    }
    Unit unit = units.get(receive);
    if (posted + unit.steps().size() > Actions.UNDER_WAY) {
      return false;
    }
    if (!unit.isInPlace()) {
      int occupant = occupants[receive];
      return occupant < before && (occupant < 0 || !units.get(occupant).isSend());
    }
    boolean isUsed = units.subList(before, receive).stream().anyMatch(unit::overlaps);
    int reading = reading(unit);
    return !isUsed && (reading <= ended || received - since.get(reading - 1) >= SINCE);
  }

  /** Returns how many of the first sends must have ended so that elements can be written. */
  private int reading(Unit written) {
    for (int send = sends.size(); send > ended; send--) {
      Unit read = sends.get(send - 1);
      if (read.isInPlace() && read.overlaps(written)) {
        return send;
      }
    }
    return ended;
  }

  /** Returns how many of the first sends must have ended so that a unit can use its buffer. */
  private int occupying(int unit) {
    int occupant = occupants[unit];
    return occupant >= 0 && units.get(occupant).isSend()
        ? sends.indexOf(units.get(occupant)) + 1
        : ended;
  }

  private int await(int count) {
    ended = Math.max(ended, count);
    return ended;
  }

  private void post(Unit unit, int index) {
    int before = await(unit.isInPlace() ? reading(unit) : occupying(index));
    for (int message = 0; message < unit.steps().size(); message++) {
      int step = unit.first() + message;
      Step.Receive receive = (Step.Receive) unit.steps().get(message);
      actions.add(new Action.Post(step, receive, places.get(step), before));
    }
    posted += unit.steps().size();
  }

  private void send(Unit unit, int index) {
    int before = await(Math.max(occupying(index), sends.size() + 1 - Actions.UNDER_WAY));
    sends.add(unit);
    since.add(received);
    Step.Send send = (Step.Send) unit.step();
    actions.add(new Action.Send(unit.first(), send, places.get(unit.first()), before));
  }

  private void finish(Unit unit) {
    int before = await(unit.isInPlace() ? ended : reading(unit));
    List<Step.Receive> messages = unit.receives();
    actions.add(new Action.Finish(unit.first(), messages, places.get(unit.first()), before));
    posted -= messages.size();
    received += messages.size();
  }

  /**
   * Loads ahead for the next unit that is received, if it is combined, has been posted, and no
   * further send before it is packed, which takes the same room as loading.
   */
  private void loadAfter(int unit) {
    int following = unit + 1;
    while (following < units.size() && units.get(following).isSend()) {
      if (!units.get(following).isInPlace()) {
        return;
      }
      following++;
    }
    if (following < next) {
      Unit received = units.get(following);
      Step.Receive message = (Step.Receive) received.step();
      if (message.combine() != Combine.REPLACE && message.slices().size() == 1) {
        int step = received.first();
        actions.add(new Action.Load(step, received.receives(), places.get(step), ended));
      }
    }
  }
}
