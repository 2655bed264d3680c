package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Runs a schedule on sets instead of numbers: for each interval of the vector that no slice
 * divides, the set of devices whose contributions a device's elements contain. A reduction must
 * contain each exactly once.
 */
final class ResultProof {
  private final Schedule schedule;
  private final Collective collective;

  /** The beginnings of intervals, and the end of the vector. */
  private final long[] cuts;

  /** The immutable sets by device and interval; null if a device holds nothing. */
  private final BitSet[][] held;

  private final Map<Long, Deque<BitSet[]>> channels = new HashMap<>();

  ResultProof(Schedule schedule) {
    this.schedule = schedule;
    this.collective = schedule.collective();
    TreeSet<Long> all = new TreeSet<>();
    for (Slice slice : collective.slices()) {
      all.add(slice.start());
    }
    all.add(collective.elements());
    for (List<Step> steps : schedule.steps()) {
      for (Step step : steps) {
        for (Slice slice : step.slices()) {
          all.add(slice.start());
          all.add(slice.end());
        }
      }
    }
    cuts = all.stream().mapToLong(Long::longValue).toArray();
    held = new BitSet[collective.devices()][cuts.length];
    for (int device = 0; device < collective.devices(); device++) {
      BitSet own = new BitSet();
      own.set(device);
      for (Slice slice : collective.before(device)) {
        Arrays.fill(held[device], stretch(slice.start()), stretch(slice.end()), own);
      }
    }
  }

  private int stretch(long element) {
    return Arrays.binarySearch(cuts, element);
  }

  void verify(List<Position> order) {
    for (Position position : order) {
      switch (ScheduleProof.step(schedule, position)) {
        case Send send -> send(position, send);
        case Receive receive -> receive(position, receive);
      }
    }
    for (int device = 0; device < collective.devices(); device++) {
      for (Slice slice : collective.after(device)) {
        for (int at = stretch(slice.start()); at < stretch(slice.end()); at++) {
          requireWhole(device, at);
        }
      }
    }
  }

  private Deque<BitSet[]> channel(int from, int to) {
    return channels.computeIfAbsent(
        (long) from * collective.devices() + to, key -> new ArrayDeque<>());
  }

  /** Returns the intervals of a message, in order. */
  private IntStream stretches(Step step) {
    return step.slices().stream()
        .flatMapToInt(slice -> IntStream.range(stretch(slice.start()), stretch(slice.end())));
  }

  private void send(Position position, Send send) {
    BitSet[] own = held[position.device()];
    stretches(send)
        .filter(at -> own[at] == null)
        .findFirst()
        .ifPresent(
            at -> {
              throw error(position, "elements that the device has", "it doesn't have " + text(at));
            });
    channel(position.device(), send.to())
        .add(stretches(send).mapToObj(at -> own[at]).toArray(BitSet[]::new));
  }

  private void receive(Position position, Receive receive) {
    BitSet[] message = channel(receive.from(), position.device()).remove();
    BitSet[] own = held[position.device()];
    int[] places = stretches(receive).toArray();
    for (int i = 0; i < places.length; i++) {
      int at = places[i];
      own[at] =
          receive.combine() == Combine.REPLACE
              ? message[i]
              : combined(position, receive, at, message[i]);
    }
  }

  private BitSet combined(Position position, Receive receive, int at, BitSet received) {
    BitSet own = held[position.device()][at];
    if (receive.combine() != collective.reduction()) {
      throw error(position, collective.reduction().toString(), receive.combine().toString());
    }
    if (own == null) {
      throw error(position, "local elements to combine with", "it doesn't have " + text(at));
    }
    if (own.intersects(received)) {
      BitSet both = (BitSet) own.clone();
      both.and(received);
      throw error(
          position,
          "contributions that it doesn't have yet",
          "those of devices " + both + " twice in " + text(at));
    }
    BitSet union = (BitSet) own.clone();
    union.or(received);
    return union;
  }

  private void requireWhole(int device, int at) {
    BitSet own = held[device][at];
    boolean whole =
        own != null && (!collective.kind().reduces() || own.cardinality() == collective.devices());
    if (!whole) {
      throw new PartitaException(
          CollectiveCode.RESULT,
          collective + ", device " + device,
          collective.kind().reduces()
              ? "the contributions of all devices in " + text(at)
              : text(at),
          own == null ? "nothing" : "those of devices " + own,
          "add the missing messages");
    }
  }

  private String text(int at) {
    return "elements " + new Slice(cuts[at], cuts[at + 1] - cuts[at]);
  }

  private PartitaException error(Position position, String expected, String found) {
    return new PartitaException(
        CollectiveCode.RESULT,
        ScheduleProof.where(schedule, position),
        expected,
        found,
        "correct the message");
  }
}
