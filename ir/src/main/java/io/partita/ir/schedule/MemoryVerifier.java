package io.partita.ir.schedule;

import static io.partita.ir.schedule.MemoryContents.ARRIVING;
import static io.partita.ir.schedule.MemoryContents.CONSTANT;
import static io.partita.ir.schedule.MemoryContents.EMPTY;
import static io.partita.ir.schedule.MemoryContents.LEAVING;
import static io.partita.ir.schedule.MemoryContents.WRITTEN;

import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.MemoryContents.Extent;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Simulates the first run of a chip on the bytes of its home and working memories, and that it ends
 * in the state in which it began. Checks that each byte that is read was written since its live
 * range began, that constants are not changed, that buffers of transfers are not used until they
 * end, and that farther memories receive all changes of states.
 */
final class MemoryVerifier {
  private final ChipSchedule chip;
  private final MemoryContents memory;
  private final ExchangeVerifier exchanges;
  private final Map<Integer, StartTransfer> underWay = new TreeMap<>();
  private final Map<Integer, List<ScheduleStep.Preload>> preloads = new TreeMap<>();
  private final Map<Integer, Fetched> rows = new TreeMap<>();

  /** The step after the last guarded region that has begun. */
  private int guardEnd;

  private int index = -1;

  /**
   * Rows on their way.
   *
   * @param region of their step, as {@link #region} returns it
   */
  private record Fetched(ScheduleStep.FetchRows rows, int region) {}

  private MemoryVerifier(ChipSchedule chip) {
    this.chip = chip;
    this.memory = new MemoryContents(chip);
    this.exchanges = new ExchangeVerifier(chip, memory);
  }

  static void verify(ChipSchedule chip) {
    new MemoryVerifier(chip).run();
  }

  private void run() {
    memory.enter();
    for (StoredConstant constant : chip.constants()) {
      requireLasting(constant.at(), constant.bytes());
      if (constant.at().isHome()) {
        memory.fill(constant.at(), constant.bytes(), CONSTANT);
      }
    }
    requireStatesApart();
    writePorts(chip.states());
    for (ScheduleStep each : chip.start()) {
      memory.at(index, each);
      play(each);
    }
    Map<Integer, StartTransfer> atStart = new TreeMap<>(underWay);
    Map<Integer, List<ScheduleStep.Preload>> preloadedAtStart = new TreeMap<>(preloads);
    memory.at(index, null);
    writePorts(chip.inputs());
    for (index = 0; index < chip.steps().size(); index++) {
      ScheduleStep step = chip.steps().get(index);
      memory.at(index, step);
      memory.enter();
      play(step);
    }
    memory.at(index, null);
    memory.requireTransfer(
        underWay.equals(atStart), "the transfers in flight before a run: " + atStart, underWay);
    memory.requireTransfer(
        preloads.equals(preloadedAtStart),
        "the preloads in flight before a run: " + preloadedAtStart,
        preloads);
    memory.requireTransfer(rows.isEmpty(), "no rows on their way after a run", rows.values());
    exchanges.requireEnded();
    for (StateCopies each : memory.copies()) {
      memory.require(
          each.behind() < 0, "states where a run leaves them, in " + each, each.behind());
    }
    for (List<Port> ports : List.of(chip.outputs(), chip.states())) {
      for (Port port : ports) {
        if (port.at().isHome()) {
          memory.requireWritten(port.name(), port.at().offset(), port.type().bytes());
        }
      }
    }
  }

  private void writePorts(List<Port> ports) {
    for (Port port : ports) {
      if (port.at().isHome()) {
        memory.write(port.name(), port.at().offset(), port.type().bytes());
      }
    }
  }

  /** Checks that states overlap neither constants nor each other. */
  private void requireStatesApart() {
    List<Extent> taken = new ArrayList<>();
    for (StoredConstant constant : chip.constants()) {
      if (!constant.at().isHome()) {
        taken.add(new Extent(constant.at(), constant.bytes()));
      }
    }
    for (Port state : chip.states()) {
      if (!state.at().isHome()) {
        requireLasting(state.at(), state.type().bytes());
        Extent own = new Extent(state.at(), state.type().bytes());
        memory.require(taken.stream().noneMatch(own::meets), "separate bytes", state);
        taken.add(own);
      }
    }
  }

  /** Checks that an address isn't in the working memory, whose contents end with a run. */
  private void requireLasting(Address at, long bytes) {
    memory.require(
        at.memory() >= ChipSchedule.HOME, "a memory beside " + chip.working().name(), at);
    memory.requireInside(at, bytes);
  }

  /** Checks that an address is in a memory that transfers reach. */
  private void requireFar(Address at, long bytes) {
    memory.require(
        at.memory() > ChipSchedule.HOME, "a memory farther than " + chip.home().name(), at);
    memory.requireInside(at, bytes);
  }

  private void play(ScheduleStep step) {
    switch (step) {
      case ScheduleStep.RunTiles run -> play(run);
      case StartTransfer start -> play(start);
      case ScheduleStep.WaitTransfer wait -> {
        StartTransfer ended = underWay.remove(wait.transfer());
        memory.requireTransfer(ended != null, "a transfer in flight", wait);
        memory.fill(ended.home(), ended.extent(), WRITTEN);
        memory.copies().forEach(each -> each.ended(ended));
      }
      case ScheduleStep.Preload preload -> play(preload);
      case ScheduleStep.AwaitPreload await -> {
        List<ScheduleStep.Preload> ended = preloads.remove(await.preload());
        memory.requireTransfer(ended != null, "a preload in flight", await);
        ended.forEach(each -> memory.fill(working(each), each.bytes(), WRITTEN));
      }
      case ScheduleStep.FetchRows fetch -> play(fetch);
      case ScheduleStep.AwaitRows await -> {
        Fetched ended = rows.remove(await.number());
        memory.requireTransfer(
            ended != null && ended.region == region(), "rows on their way", await);
        memory.fill(ended.rows.home(), ended.rows.bytes(), WRITTEN);
      }
      case ScheduleStep.BeginExchange begin -> play(begin);
      case ScheduleStep.Exchange exchange -> exchanges.play(exchange);
      case ScheduleStep.Guard guard -> play(guard);
      case ScheduleStep.Clear clear -> memory.write("zeros", clear.home(), clear.bytes());
    }
  }

  private void play(ScheduleStep.FetchRows fetch) {
    requireFar(fetch.table(), fetch.rows() * fetch.rowBytes());
    memory.requireTransfer(
        rows.putIfAbsent(fetch.number(), new Fetched(fetch, region())) == null,
        "an unused number of rows",
        fetch);
    memory.read("indices", fetch.indices(), fetch.index().packedBytes(fetch.count()));
    memory.write("rows", fetch.home(), fetch.bytes());
    memory.fill(fetch.home(), fetch.bytes(), ARRIVING);
  }

  /** Returns the end of the guarded region of the step; 0 outside of any. */
  private int region() {
    return index < guardEnd ? guardEnd : 0;
  }

  /** Bytes count as written by guarded steps, too: what is read is decided by other guards. */
  private void play(ScheduleStep.Guard guard) {
    guard.conditions().forEach(each -> memory.read("condition", each.home(), 1));
    int end = index + 1 + guard.steps();
    memory.require(
        guard.steps() > 0 && index >= 0 && end <= chip.steps().size(),
        "a guarded region inside of the run",
        guard.steps() + " steps");
    memory.require(
        chip.steps().subList(index + 1, end).stream()
            .noneMatch(ScheduleStep.Guard.class::isInstance),
        "no guard in a guarded region",
        "one");
    guardEnd = end;
  }

  private void play(StartTransfer start) {
    requireFar(start.far(), start.extent());
    memory.requireTransfer(
        !underWay.containsKey(start.transfer()), "an unused transfer number", start);
    underWay.put(start.transfer(), start);
    if (start.fetch()) {
      memory.write(start.origin().name(), start.home(), start.bytes());
      memory.fill(start.home(), start.bytes(), ARRIVING);
    } else {
      start
          .lines()
          .ifPresent(
              lines -> memory.read("position", lines.position(), lines.index().packedBytes(1)));
      memory.read(start.origin().name(), start.home(), start.extent());
      memory.fill(start.home(), start.extent(), LEAVING);
    }
    for (StateCopies each : memory.copies()) {
      String wrong = each.started(start);
      memory.requireTransfer(wrong == null, "the latest bytes of a state", wrong);
    }
  }

  private void play(ScheduleStep.Preload preload) {
    preloads.computeIfAbsent(preload.preload(), each -> new ArrayList<>()).add(preload);
    // A step in a guarded region may be skipped, and the preload with it.
    boolean isStarted = index + 1 >= guardEnd || !chip.isStartedByNext(index);
    memory.requireTransfer(isStarted, "a loop or an exchange after it that always runs", preload);
    int until = index + ScheduleStep.Preload.MOST;
    boolean isTooMany =
        index >= 0
            && until < chip.steps().size()
            && chip.steps().subList(index, until + 1).stream()
                .allMatch(ScheduleStep.Preload.class::isInstance);
    memory.requireTransfer(
        !isTooMany, "at most " + ScheduleStep.Preload.MOST + " before the same step", preload);
    memory.requireInside(working(preload), preload.bytes());
    memory.requireResidents(preload.origin().name(), working(preload), preload.bytes());
    memory.requireConstant(preload.home(), preload.bytes());
    memory.requireIdle(working(preload), preload.bytes());
    memory.fill(working(preload), preload.bytes(), ARRIVING);
  }

  private static Address working(ScheduleStep.Preload preload) {
    return new Address(ChipSchedule.WORKING, preload.working());
  }

  private void play(ScheduleStep.BeginExchange begin) {
    Optional<ScheduleStep.Exchange> next =
        index < 0 ? Optional.empty() : begin.next(chip.steps(), index);
    memory.requireTransfer(
        next.isPresent() && !exchanges.isUnderWay(), "an exchange after it", begin);
    ScheduleStep.Exchange exchange = next.orElseThrow();
    int until = index + 1;
    while (chip.steps().get(until) != exchange) {
      until++;
    }
    boolean isGuarded =
        index < guardEnd
            || chip.steps().subList(index, until).stream()
                .anyMatch(ScheduleStep.Guard.class::isInstance);
    memory.require(!isGuarded, "an exchange that begins and ends without a guard", begin);
    exchanges.begin(exchange);
  }

  private void play(ScheduleStep.RunTiles run) {
    TiledKernel kernel = chip.kernels().get(run.kernel());
    memory.require(
        run.operands().size() == kernel.operands().size(),
        kernel.operands().size() + " operands",
        run.operands().size());
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() != Direction.STORE) {
        visit(operand, run.operands().get(i), false);
      }
      if (operand.isNear()) {
        memory.require(
            run.operands().get(i) >= kernel.workingBytes(),
            operand.name() + " behind the tiles of the loop, " + kernel.workingBytes() + " B",
            run.operands().get(i));
      }
    }
    // A step in a guarded region may be skipped, and what computes the position with it.
    Optional<StateLines> lines =
        region() == 0 ? StateLines.of(kernel, run.operands()) : Optional.empty();
    Address tiles = new Address(ChipSchedule.WORKING, 0);
    memory.requireIdle(tiles, kernel.workingBytes());
    memory.fill(tiles, kernel.workingBytes(), EMPTY);
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() == Direction.STORE) {
        requireNoOverlap(run, kernel, i);
        long place = run.operands().get(i);
        lines.ifPresent(own -> memory.copies().forEach(each -> each.beginUpdate(own, place)));
        visit(operand, place, true);
        memory.copies().forEach(StateCopies::endUpdate);
      }
    }
  }

  /**
   * Checks that loaded bytes aren't stored by other tiles, except equal tiles of the same bytes.
   */
  private void requireNoOverlap(ScheduleStep.RunTiles run, TiledKernel kernel, int stored) {
    TileOperand store = kernel.operands().get(stored);
    OperandRows written = new OperandRows(store, run.operands().get(stored));
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand load = kernel.operands().get(i);
      OperandRows read = new OperandRows(load, run.operands().get(i));
      boolean isSame =
          run.operands().get(i).equals(run.operands().get(stored))
              && load.element().bits() == store.element().bits()
              && load.packing() == store.packing()
              && load.box().equals(store.box());
      memory.require(
          i == stored || isSame || load.isNear() != store.isNear() || !written.meets(read),
          "bytes of " + load.name() + " that no store writes",
          store.name());
    }
  }

  /** Reads or writes the bytes of an operand of a loop. */
  private void visit(TileOperand operand, long offset, boolean writes) {
    int place = operand.isNear() ? ChipSchedule.WORKING : ChipSchedule.HOME;
    new OperandRows(operand, offset)
        .each(
            (at, bytes) -> {
              if (writes) {
                memory.write(operand.name(), new Address(place, at), bytes);
              } else {
                memory.read(operand.name(), new Address(place, at), bytes);
              }
            });
  }
}
