package io.partita.backend.metalium;

import io.partita.backend.metalium.Launch.Member;
import io.partita.backend.metalium.Launch.Message;
import io.partita.backend.metalium.Launch.Part;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.op.Communication;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Plans exchanges between chips. A chip holds the vector in L1, in pages without rows. A packet
 * carries a part of a page, and arrives at the same place of a page in DRAM that it alone is for,
 * so a chip may send before the receiver is ready.
 */
final class Exchanges {
  private static final long PAGE = (long) Matrix.TILE * Matrix.TILE;

  /** The most runtime arguments of a kernel; fewer than the 341 of the hardware for connections. */
  private static final int MOST_ARGUMENTS = 300;

  /** A slice that a chip receives, and the page of its inbox at which the first packet arrives. */
  private record Arrival(Slice slice, long page) {}

  private final MatrixPool pool;
  private final int chips;
  private final long mostPages;

  /**
   * @param mostPages the pages of a vector that fit L1; longer vectors are exchanged in parts
   */
  Exchanges(MatrixPool pool, int chips, long mostPages) {
    this.pool = pool;
    this.chips = chips;
    this.mostPages = Math.max(1, mostPages);
  }

  /**
   * Returns the launches of an exchange.
   *
   * @param parts of all chips that take part, by number
   * @throws PartitaException with {@link MetaliumCode}s
   */
  List<Launch> launches(SortedMap<Integer, ExchangePart> parts) {
    Optional<String> join = join(parts);
    // Groups of chips that exchange among themselves may have vectors of other lengths.
    long elements =
        parts.values().stream().mapToLong(part -> part.exchange().elements()).max().orElseThrow();
    List<Launch> launches = new ArrayList<>();
    for (long start = 0; start < elements; start += mostPages * PAGE) {
      Slice range = new Slice(start, Math.min(mostPages * PAGE, elements - start));
      launches.addAll(launches(parts, range, join));
    }
    return launches;
  }

  private Wire wire(SortedMap<Integer, ExchangePart> parts) {
    return Wire.of(parts.get(parts.firstKey()).exchange().element(), pool.elements());
  }

  /** The function of the vector engine that joins elements. */
  private Optional<String> join(SortedMap<Integer, ExchangePart> parts) {
    Set<Combine> combines =
        parts.values().stream()
            .flatMap(part -> part.exchange().steps().stream())
            .filter(Receive.class::isInstance)
            .map(step -> ((Receive) step).combine())
            .filter(combine -> combine != Combine.REPLACE)
            .collect(Collectors.toSet());
    if (combines.isEmpty()) {
      return Optional.empty();
    }
    Optional<BinaryFunction> function = combines.iterator().next().function();
    Optional<String> name = function.map(VectorFunctions.BINARY::get);
    if (combines.size() > 1 || name.isEmpty() || wire(parts) == Wire.BYTES) {
      throw new PartitaException(
          MetaliumCode.OPERATION,
          "node \"" + parts.get(parts.firstKey()).origin().name() + "\"",
          "a sum or a maximum of the elements of several chips",
          "an exchange that joins by "
              + combines.stream().sorted().map(Combine::text).collect(Collectors.joining(", ")),
          "choose another --strategy, or --target java");
    }
    return name;
  }

  /** One launch for all chips with the same gates. */
  private List<Launch> launches(
      SortedMap<Integer, ExchangePart> parts, Slice range, Optional<String> join) {
    Map<List<Integer>, Deque<Arrival>> arrivals = new HashMap<>();
    long pages = arrivals(parts, range, arrivals);
    // On each chip, so that it is at the same address.
    Matrix inbox = null;
    for (int chip = 0; chip < chips; chip++) {
      inbox = pool.add(chip, "inbox", "allocate", Math.max(1, pages) * Matrix.TILE, Matrix.TILE);
    }
    Map<List<Integer>, SortedMap<Integer, Member>> members = new LinkedHashMap<>();
    parts.forEach(
        (chip, part) -> {
          Communication.Exchange exchange = part.exchange();
          Member member =
              new Member(
                  part.operand(),
                  placed(exchange.before(), range),
                  part.result(),
                  range.start() == 0,
                  placed(exchange.after(), range),
                  messages(chip, exchange, range, arrivals));
          verify(part, member);
          members.computeIfAbsent(part.gates(), gates -> new TreeMap<>()).put(chip, member);
        });
    arrivals.forEach(
        (ends, left) -> {
          if (!left.isEmpty()) {
            throw new IllegalStateException("a message from and to " + ends + " isn't sent");
          }
        });
    Matrix shared = inbox;
    List<Launch> launches = new ArrayList<>();
    members.forEach(
        (gates, chips) ->
            launches.add(
                new Launch.Exchange(
                    parts.get(parts.firstKey()).origin(),
                    shared,
                    join,
                    Math.ceilDiv(range.size(), PAGE),
                    gates,
                    wire(parts),
                    chips)));
    return launches;
  }

  /** Gives messages pages of the receivers' inboxes; returns the pages of the largest one. */
  private static long arrivals(
      SortedMap<Integer, ExchangePart> parts,
      Slice range,
      Map<List<Integer>, Deque<Arrival>> pages) {
    long most = 0;
    for (Map.Entry<Integer, ExchangePart> part : parts.entrySet()) {
      long next = 0;
      for (io.partita.ir.message.Step step : part.getValue().exchange().steps()) {
        if (step instanceof Receive receive) {
          for (Slice slice : clipped(receive.slices(), range)) {
            pages
                .computeIfAbsent(List.of(receive.from(), part.getKey()), key -> new ArrayDeque<>())
                .add(new Arrival(slice, next));
            next += pages(slice);
          }
        }
      }
      most = Math.max(most, next);
    }
    return most;
  }

  private static List<Message> messages(
      int chip,
      Communication.Exchange exchange,
      Slice range,
      Map<List<Integer>, Deque<Arrival>> arrivals) {
    List<Message> messages = new ArrayList<>();
    long next = 0;
    for (io.partita.ir.message.Step step : exchange.steps()) {
      for (Slice slice : clipped(step.slices(), range)) {
        switch (step) {
          case Send send -> {
            Message.Kind kind =
                send.to() > chip ? Message.Kind.SEND_FORWARD : Message.Kind.SEND_BACKWARD;
            Arrival arrival = arrivals.get(List.of(chip, send.to())).remove();
            if (!arrival.slice().equals(slice)) {
              throw new IllegalStateException(
                  chip + " sends " + slice + ", but " + send.to() + " receives " + arrival.slice());
            }
            messages.add(new Message(kind, send.to(), slice, arrival.page()));
          }
          case Receive receive -> {
            boolean isJoined = receive.combine() != Combine.REPLACE;
            messages.add(
                new Message(
                    isJoined ? Message.Kind.RECEIVE_AND_JOIN : Message.Kind.RECEIVE,
                    receive.from(),
                    slice,
                    next));
            next += pages(slice);
          }
        }
      }
    }
    return messages;
  }

  /** The number of a slice's packets, each of which is a part of one page. */
  private static long pages(Slice slice) {
    return (slice.end() - 1) / PAGE - slice.start() / PAGE + 1;
  }

  /** The parts of slices in a range, from its start on. */
  private static List<Slice> clipped(List<Slice> slices, Slice range) {
    return placed(slices, range).stream().map(Part::slice).toList();
  }

  /** Likewise, with the places of their elements among those of all slices. */
  private static List<Part> placed(List<Slice> slices, Slice range) {
    List<Part> placed = new ArrayList<>();
    long element = 0;
    for (Slice slice : slices) {
      long start = Math.max(slice.start(), range.start());
      long end = Math.min(slice.end(), range.end());
      if (start < end) {
        placed.add(
            new Part(
                new Slice(start - range.start(), end - start), element + start - slice.start()));
      }
      element += slice.size();
    }
    return placed;
  }

  private static void verify(ExchangePart part, Member member) {
    int words = 6 * member.messages().size();
    words += 3 * (member.before().size() + member.after().size()) + 7 + part.gates().size();
    if (words > MOST_ARGUMENTS) {
      throw new PartitaException(
          MetaliumCode.PROGRAM,
          "node \"" + part.origin().name() + "\"",
          "exchanges with at most " + MOST_ARGUMENTS + " runtime arguments",
          words + " for " + member.messages().size() + " messages of a chip",
          "choose fewer --devices");
    }
  }
}
