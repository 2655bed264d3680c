package io.partita.passes.program.localize;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Explores every execution of the exchanges of a small program step by step, with real channels,
 * independently of the proof.
 */
final class ProgramSimulation {
  private final List<List<Act>> devices = new ArrayList<>();
  private final int capacity;
  private final Set<State> seen = new HashSet<>();
  private final Deque<State> open = new ArrayDeque<>();
  private boolean good = true;

  private record Act(int sync, Step step) {}

  private record Message(int sync, List<Slice> slices, long bytes) {}

  private record State(List<Integer> counters, Map<List<Integer>, List<Message>> wires) {}

  private ProgramSimulation(List<List<Exchange>> exchanges, int capacity) {
    this.capacity = capacity;
    for (List<Exchange> own : exchanges) {
      List<Act> acts = new ArrayList<>();
      own.forEach(ex -> ex.steps().forEach(step -> acts.add(new Act(ex.sync(), step))));
      devices.add(acts);
    }
  }

  /**
   * Whether every execution ends, each receive gets the expected message, and no message remains.
   */
  static boolean isGood(List<List<Exchange>> exchanges, int capacity) {
    ProgramSimulation simulation = new ProgramSimulation(exchanges, capacity);
    simulation.explore();
    return simulation.good;
  }

  private void explore() {
    visit(new State(Collections.nCopies(devices.size(), 0), Map.of()));
    while (good && !open.isEmpty()) {
      State state = open.remove();
      boolean moved = false;
      for (int device = 0; device < devices.size(); device++) {
        moved |= move(state, device);
      }
      good &= moved || isDone(state);
    }
  }

  private void visit(State state) {
    if (seen.add(state)) {
      open.add(state);
    }
  }

  private boolean isDone(State state) {
    for (int device = 0; device < devices.size(); device++) {
      if (next(state, device) != null) {
        return false;
      }
    }
    return state.wires().values().stream().allMatch(List::isEmpty);
  }

  private Act next(State state, int device) {
    int counter = state.counters().get(device);
    return counter < devices.get(device).size() ? devices.get(device).get(counter) : null;
  }

  private boolean move(State state, int device) {
    Act act = next(state, device);
    if (act == null) {
      return false;
    }
    int peer = act.step().peer();
    Message message = new Message(act.sync(), act.step().slices(), act.step().bytes());
    List<Integer> wire =
        act.step() instanceof Step.Send ? List.of(device, peer) : List.of(peer, device);
    List<Message> queue = new ArrayList<>(state.wires().getOrDefault(wire, List.of()));
    if (act.step() instanceof Step.Receive) {
      if (queue.isEmpty()) {
        return false;
      }
      good &= queue.removeFirst().equals(message);
      visit(with(advance(state, device), wire, queue));
    } else if (capacity == 0) {
      Act other = next(state, peer);
      boolean meets =
          other != null && other.step() instanceof Step.Receive in && in.from() == device;
      if (!meets) {
        return false;
      }
      Step in = other.step();
      good &= new Message(other.sync(), in.slices(), in.bytes()).equals(message);
      visit(advance(advance(state, device), peer));
    } else {
      if (queue.size() == capacity) {
        return false;
      }
      queue.add(message);
      visit(with(advance(state, device), wire, queue));
    }
    return true;
  }

  private static State advance(State state, int device) {
    List<Integer> counters = new ArrayList<>(state.counters());
    counters.set(device, counters.get(device) + 1);
    return new State(counters, state.wires());
  }

  private static State with(State state, List<Integer> wire, List<Message> queue) {
    Map<List<Integer>, List<Message>> wires = new HashMap<>(state.wires());
    wires.put(wire, List.copyOf(queue));
    return new State(state.counters(), wires);
  }
}
