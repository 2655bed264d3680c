package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Explores every execution of a small schedule step by step, with real channels and contents,
 * independently of the proof.
 */
final class Simulation {
  private final Schedule schedule;
  private final int capacity;
  private final Set<State> seen = new HashSet<>();
  private final Deque<State> open = new ArrayDeque<>();
  private boolean good = true;

  /**
   * The progress of devices, their contents as one text per element, and the messages in flight by
   * channel.
   */
  private record State(
      List<Integer> counters,
      List<List<String>> held,
      Map<List<Integer>, List<List<String>>> wires) {}

  private Simulation(Schedule schedule, int capacity) {
    this.schedule = schedule;
    this.capacity = capacity;
  }

  /** Whether every execution ends with the correct contents and without remaining messages. */
  static boolean isGood(Schedule schedule, int capacity) {
    Simulation simulation = new Simulation(schedule, capacity);
    simulation.explore();
    return simulation.good;
  }

  private void explore() {
    Collective collective = schedule.collective();
    List<List<String>> held = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      String[] vector = new String[(int) collective.elements()];
      for (Slice slice : collective.before(device)) {
        for (int i = (int) slice.start(); i < slice.end(); i++) {
          vector[i] = token(device, i);
        }
      }
      held.add(Arrays.asList(vector));
    }
    List<Integer> counters = new ArrayList<>(java.util.Collections.nCopies(held.size(), 0));
    visit(new State(counters, held, Map.of()));
    while (good && !open.isEmpty()) {
      State state = open.remove();
      boolean moved = false;
      for (int device = 0; device < held.size(); device++) {
        moved |= move(state, device);
      }
      good &= moved || isRight(state);
    }
  }

  private void visit(State state) {
    if (seen.add(state)) {
      open.add(state);
    }
  }

  private boolean isRight(State state) {
    Collective collective = schedule.collective();
    for (int device = 0; device < collective.devices(); device++) {
      if (state.counters().get(device) < schedule.steps().get(device).size()) {
        return false;
      }
      for (Slice slice : collective.after(device)) {
        for (int i = (int) slice.start(); i < slice.end(); i++) {
          if (!right(i).equals(state.held().get(device).get(i))) {
            return false;
          }
        }
      }
    }
    return state.wires().values().stream().allMatch(List::isEmpty);
  }

  private String right(int element) {
    StringBuilder all = new StringBuilder();
    for (int device = 0; device < schedule.collective().devices(); device++) {
      for (Slice slice : schedule.collective().before(device)) {
        if (element >= slice.start() && element < slice.end()) {
          all.append(token(device, element));
        }
      }
    }
    return all.toString();
  }

  private boolean move(State state, int device) {
    Step step = next(state, device);
    if (step == null) {
      return false;
    }
    List<Integer> wire =
        step instanceof Send ? List.of(device, step.peer()) : List.of(step.peer(), device);
    List<List<String>> queue = state.wires().getOrDefault(wire, List.of());
    switch (step) {
      case Send send -> {
        List<String> message = read(state.held().get(device), send);
        if (capacity == 0) {
          if (next(state, send.to()) instanceof Receive receive && receive.from() == device) {
            visit(receive(advance(state, device), send.to(), receive, message));
            return true;
          }
          return false;
        }
        if (queue.size() == capacity) {
          return false;
        }
        List<List<String>> longer = new ArrayList<>(queue);
        longer.add(message);
        visit(with(advance(state, device), wire, longer));
      }
      case Receive receive -> {
        if (queue.isEmpty()) {
          return false;
        }
        State taken = with(state, wire, queue.subList(1, queue.size()));
        visit(receive(taken, device, receive, queue.getFirst()));
      }
    }
    return true;
  }

  private Step next(State state, int device) {
    List<Step> steps = schedule.steps().get(device);
    int counter = state.counters().get(device);
    return counter < steps.size() ? steps.get(counter) : null;
  }

  private static List<String> read(List<String> held, Step step) {
    List<String> message = new ArrayList<>();
    for (Slice slice : step.slices()) {
      message.addAll(held.subList((int) slice.start(), (int) slice.end()));
    }
    return message;
  }

  private State receive(State state, int device, Receive receive, List<String> message) {
    List<List<String>> held = new ArrayList<>(state.held());
    List<String> own = new ArrayList<>(held.get(device));
    int at = 0;
    for (Slice slice : receive.slices()) {
      for (int i = (int) slice.start(); i < slice.end(); i++, at++) {
        String in = at < message.size() ? message.get(at) : "short";
        own.set(i, receive.combine() == Combine.REPLACE ? in : sorted(own.get(i) + in));
      }
    }
    // A message of another length would overrun a buffer.
    good &= at == message.size() && !message.contains(null);
    held.set(device, own);
    return advance(new State(state.counters(), held, state.wires()), device);
  }

  /** Element i of device d's contribution. */
  private static String token(int device, int element) {
    return device + ":" + element + " ";
  }

  private static String sorted(String text) {
    String[] tokens = text.split(" ");
    Arrays.sort(tokens);
    return String.join(" ", tokens) + " ";
  }

  private static State advance(State state, int device) {
    List<Integer> counters = new ArrayList<>(state.counters());
    counters.set(device, counters.get(device) + 1);
    return new State(counters, state.held(), state.wires());
  }

  private static State with(State state, List<Integer> wire, List<List<String>> queue) {
    Map<List<Integer>, List<List<String>>> wires = new HashMap<>(state.wires());
    wires.put(wire, List.copyOf(queue));
    return new State(state.counters(), state.held(), wires);
  }
}
