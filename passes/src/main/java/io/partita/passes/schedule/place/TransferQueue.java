package io.partita.passes.schedule.place;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.target.DmaChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The queue of transfers between the home memory and a farther one. Each weight or state is fetched
 * as soon as its room is free and the queue isn't full, in the order of first use. Of a state that
 * a run changes, the changed lines are spilled right after the change, or all of it after the last
 * one. The first weights of a run are fetched by the run before it, once their room is free. The
 * channel serves transfers in the order in which they were started, so a fetch isn't started right
 * before rows of a table are requested, which would wait for it. The queue keeps track of the time
 * that the transfers take on the chip.
 */
final class TransferQueue {
  /** The most transfers that a port queues; to start another one, the control core would wait. */
  private static final int MAX_IN_FLIGHT = 8;

  /** A multiple of 8 that one transfer can move (hal.h). */
  private static final long MAX_LENGTH = 131_064;

  private static final int ANY = -1;

  /** A region that is fetched or spilled, in one or several transfers. */
  private record Whole(Address far, long home, long bytes, Origin origin) {
    boolean meets(Whole other) {
      return home < other.home + other.bytes && other.home < home + bytes;
    }
  }

  /**
   * One transfer.
   *
   * @param number the transfer's number while it is in flight, or {@link #ANY}
   * @param free the task before which it may begin
   * @param due the task before which it must have ended
   * @param from the offset in the region, in bytes
   * @param lines the lines of the region that it moves; empty if it moves adjacent bytes
   */
  private record Piece(
      int number,
      boolean isFetch,
      int free,
      int due,
      Whole whole,
      long from,
      long bytes,
      Optional<StateLines> lines) {
    Piece again(int name, int free, int due) {
      return new Piece(name, isFetch, free, due, whole, from, bytes, lines);
    }

    StartTransfer started(int name) {
      if (lines.isPresent()) {
        return StartTransfer.spill(name, whole.far, whole.home, lines.get(), whole.origin);
      }
      return new StartTransfer(
          name,
          isFetch,
          new Address(whole.far.memory(), whole.far.offset() + from),
          whole.home + from,
          bytes,
          whole.origin);
    }
  }

  /**
   * A transfer that was started.
   *
   * @param end the time at which it ends, in cycles from the start of the run
   */
  private record Started(int number, Piece piece, double end) {}

  private final Deque<Piece> fetches = new ArrayDeque<>();
  private final Deque<Piece> spills = new ArrayDeque<>();
  private final List<Piece> early = new ArrayList<>();
  private final List<Started> underWay = new ArrayList<>();
  private final boolean ahead;
  private final long unit;
  private final TransferTimes times;
  private final List<Double> left;
  private final int mostEarly;
  private final Map<Optional<DmaChannel>, Double> busyUntil = new HashMap<>();
  private int count;
  private double now;

  /**
   * @param ahead whether transfers begin before they're needed
   * @param left cycles that each early transfer still takes when a run begins: {@link #left} of the
   *     run before it; empty if they all begin with the run
   * @param mostEarly how many transfers a run may start for the next one
   */
  private TransferQueue(
      boolean ahead, TransferTimes times, List<Double> left, int mostEarly, long unit) {
    this.unit = unit;
    this.ahead = ahead;
    this.times = times;
    this.left = List.copyOf(left);
    this.mostEarly = mostEarly;
  }

  /**
   * The queue of a run that follows no other one.
   *
   * @param ahead whether transfers begin before they're needed
   */
  static TransferQueue first(boolean ahead, TransferTimes times, long unit) {
    return new TransferQueue(ahead, times, List.of(), MAX_IN_FLIGHT, unit);
  }

  /** The queue of the next run, once all steps of this one are known. */
  TransferQueue next() {
    List<Double> left = left();
    int begun = 0;
    while (begun < left.size() && isWorthStarting(left, begun)) {
      begun++;
    }
    return new TransferQueue(ahead, times, left.subList(0, begun), begun, unit);
  }

  /** Whether an early transfer begins before the next run asks for rows. */
  private boolean isWorthStarting(List<Double> left, int piece) {
    double begin = left.get(piece) - times.cycles(true, early.get(piece).bytes);
    return left.get(piece) == 0 || beginsBeforeRows(0, 0, begin);
  }

  /**
   * Adds a region whose transfers are in flight when a run begins, as far as the queue has room.
   * These come first, in the order of first use.
   *
   * @param again the task before which it may begin for the next run
   * @return whether all transfers had room; the others start when the run has begun
   */
  boolean early(int again, int first, Address far, long home, long bytes, Origin origin) {
    Whole whole = new Whole(far, home, bytes, origin);
    for (Piece piece : pieces(true, 0, first, whole)) {
      if (!ahead || early.size() == mostEarly) {
        fetches.add(piece);
        continue;
      }
      int number = MAX_IN_FLIGHT + early.size();
      Optional<DmaChannel> channel = times.channel(true);
      double end =
          early.size() < left.size()
              ? left.get(early.size())
              : busyUntil.getOrDefault(channel, 0.0) + times.cycles(true, piece.bytes);
      busyUntil.merge(channel, end, Math::max);
      underWay.add(new Started(number, piece, end));
      early.add(piece.again(number, Math.min(again, end()), end() + 1));
    }
    return fetches.isEmpty();
  }

  /** Returns the number of tasks, which stands for the end of the run. */
  private int end() {
    return times.tasks().size();
  }

  /** Adds the fetch of a region, in the order of first use. */
  void fetch(int free, int first, Address far, long home, long bytes, Origin origin) {
    fetches.addAll(pieces(true, free, first, new Whole(far, home, bytes, origin)));
  }

  /**
   * Adds the spill of a state, in the order of last change.
   *
   * @param bytes of the whole state, if that is spilled
   * @param lines the lines that are spilled instead
   */
  void spill(
      int changed, Address far, long home, long bytes, Optional<StateLines> lines, Origin origin) {
    lines.ifPresentOrElse(
        own ->
            spills.add(
                new Piece(
                    ANY,
                    false,
                    changed,
                    end(),
                    new Whole(far, home, own.stateBytes(), origin),
                    0,
                    own.bytes(),
                    lines)),
        () -> spills.addAll(pieces(false, changed, end(), new Whole(far, home, bytes, origin))));
  }

  private List<Piece> pieces(boolean isFetch, int free, int due, Whole whole) {
    long count = Math.ceilDiv(whole.bytes, MAX_LENGTH / unit * unit);
    long size = count == 0 ? 0 : Placement.aligned(Math.ceilDiv(whole.bytes, count), unit);
    List<Piece> pieces = new ArrayList<>();
    for (long from = 0; from < whole.bytes; from += size) {
      long bytes = Math.min(size, whole.bytes - from);
      pieces.add(new Piece(ANY, isFetch, free, due, whole, from, bytes, Optional.empty()));
    }
    return pieces;
  }

  /** Returns the steps before the first run. */
  List<ScheduleStep> start() {
    return early.stream().map(piece -> (ScheduleStep) piece.started(piece.number)).toList();
  }

  /** Returns the steps right before a task, or after the last one. Tasks are requested in order. */
  List<ScheduleStep> before(int task) {
    if (task == 0) {
      int latest = 0;
      for (Piece piece : early) {
        latest = Math.max(latest, piece.free);
        fetches.add(piece.again(piece.number, latest, piece.due));
      }
    }
    List<ScheduleStep> steps = new ArrayList<>();
    while (!spills.isEmpty() && spills.peek().free <= task) {
      startWithRoom(spills.remove(), steps);
    }
    startFree(task, steps);
    while (!fetches.isEmpty() && fetches.peek().due <= task) {
      Piece next = fetches.remove();
      while (isBlocked(next)) {
        await(steps);
      }
      startWithRoom(next, steps);
    }
    while (mustEnd(task)) {
      await(steps);
    }
    startFree(task, steps);
    if (task < end()) {
      now += times.tasks().get(task);
    }
    return steps;
  }

  /** Returns whether a task needs a transfer that is in flight. */
  private boolean mustEnd(int task) {
    for (Started each : underWay) {
      if (each.piece.due <= task) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the cycles until the last task and all transfers, except those for the next run, have
   * ended.
   */
  double cycles() {
    return now;
  }

  /** Cycles that each of the early transfers for the next run still takes after this one. */
  private List<Double> left() {
    return underWay.stream().map(each -> Math.max(0, each.end - now)).toList();
  }

  private void startFree(int task, List<ScheduleStep> steps) {
    while (ahead && !fetches.isEmpty() && fetches.peek().free <= task) {
      while (isBlocked(fetches.peek()) && (task == end() || oldest().end <= now)) {
        await(steps);
      }
      if (isBlocked(fetches.peek()) || !hasRoom(task, steps) || !letsRowsPass(task)) {
        return;
      }
      start(fetches.remove(), steps);
    }
  }

  /** Whether one more transfer may be under way; if not, one that has ended makes room. */
  private boolean hasRoom(int task, List<ScheduleStep> steps) {
    if (underWay.size() >= MAX_IN_FLIGHT && task < end()) {
      Started oldest = oldest();
      if (!isOfThisRun(oldest) || oldest.end > now) {
        return false;
      }
      await(steps);
    }
    return true;
  }

  /** Whether the next fetch is needed by the next rows or begins before they are requested. */
  private boolean letsRowsPass(int task) {
    OptionalInt rows = times.nextRows(task);
    if (task == end() || rows.isEmpty() || fetches.peek().due <= rows.getAsInt()) {
      return true;
    }
    double begin = now + times.issueCycles(true);
    double busy = busyUntil.getOrDefault(times.channel(true), 0.0);
    return beginsBeforeRows(task, now, Math.max(begin, busy));
  }

  /**
   * Whether a fetch keeps the channel busy that would wait for the next rows: they then wait for
   * one fetch at most.
   *
   * @param at the time before the task, in cycles
   * @param begin the time at which the channel begins the fetch
   */
  private boolean beginsBeforeRows(int task, double at, double begin) {
    OptionalInt rows = times.nextRows(task);
    return rows.isEmpty() || begin < at + times.cycles(task, rows.getAsInt());
  }

  /** Returns whether a state is still being written back from the room of a fetch. */
  private boolean isBlocked(Piece fetch) {
    for (Started each : underWay) {
      if (!each.piece.isFetch && each.piece.whole.meets(fetch.whole)) {
        return true;
      }
    }
    return false;
  }

  private void startWithRoom(Piece piece, List<ScheduleStep> steps) {
    if (underWay.size() >= MAX_IN_FLIGHT && isOfThisRun(oldest())) {
      await(steps);
    }
    start(piece, steps);
  }

  private void start(Piece next, List<ScheduleStep> steps) {
    long transfers = next.lines.map(StateLines::parts).orElse(1L);
    now += transfers * times.issueCycles(next.isFetch);
    Optional<DmaChannel> channel = times.channel(next.isFetch);
    double begin = Math.max(now, busyUntil.getOrDefault(channel, 0.0));
    double end = begin + transfers * times.cycles(next.isFetch, next.bytes / transfers);
    busyUntil.put(channel, end);
    int number = next.number == ANY ? count++ % MAX_IN_FLIGHT : next.number;
    underWay.add(new Started(number, next, end));
    steps.add(next.started(number));
  }

  private boolean isOfThisRun(Started started) {
    return started.piece.due <= end();
  }

  /** Returns the oldest transfer that this run waits for, if there is one. */
  private Started oldest() {
    for (Started each : underWay) {
      if (isOfThisRun(each)) {
        return each;
      }
    }
    return underWay.getFirst();
  }

  private void await(List<ScheduleStep> steps) {
    Started oldest = oldest();
    underWay.remove(oldest);
    now = Math.max(now, oldest.end);
    steps.add(new ScheduleStep.WaitTransfer(oldest.number, oldest.piece.whole.origin));
  }
}
