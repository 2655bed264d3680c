package io.partita.ir.schedule;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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
  private static final byte EMPTY = 0;
  private static final byte WRITTEN = 1;
  private static final byte CONSTANT = 2;
  private static final byte ARRIVING = 3;
  private static final byte LEAVING = 4;

  private final ChipSchedule chip;
  private final byte[] home;
  private final byte[] working;

  /** The copies of states in each memory from the third on. */
  private final List<StateCopies> copies = new ArrayList<>();

  private final Map<Integer, StartTransfer> underWay = new TreeMap<>();
  private final Map<Integer, List<ScheduleStep.Preload>> preloads = new TreeMap<>();

  /** The step after the last guarded region that has begun. */
  private int guardEnd;

  private final List<Residence> byFirst;
  private final List<Residence> alive = new ArrayList<>();

  /** The live object that was used last, since the rows of an operand are mostly in one. */
  private Residence recent;

  /** The exchange that has begun, if any, and the states of its operand's bytes. */
  private ScheduleStep.Exchange begun;

  private byte[] kept;

  private int nextResidence;
  private int index;
  private ScheduleStep step;

  private MemoryVerifier(ChipSchedule chip) {
    this.chip = chip;
    this.home = new byte[Math.toIntExact(chip.home().used())];
    this.working = new byte[Math.toIntExact(chip.working().used())];
    for (int memory = ChipSchedule.HOME + 1; memory < chip.memories().size(); memory++) {
      copies.add(new StateCopies(chip, memory));
    }
    this.byFirst = new ArrayList<>(chip.residences());
    byFirst.sort(Comparator.comparingInt(Residence::first));
  }

  static void verify(ChipSchedule chip) {
    new MemoryVerifier(chip).run();
  }

  private String where() {
    return "device "
        + chip.devices().getFirst()
        + (step == null ? "" : ", step " + index + " for \"" + step.origin().name() + '"');
  }

  private void require(boolean condition, Object expected, Object found) {
    ScheduleFault.MEMORY.require(condition, where(), expected, found);
  }

  private void requireTransfer(boolean condition, Object expected, Object found) {
    ScheduleFault.TRANSFER.require(condition, where(), expected, found);
  }

  private void run() {
    index = -1;
    enter();
    for (StoredConstant constant : chip.constants()) {
      requireLasting(constant.at(), constant.bytes());
      if (constant.at().isHome()) {
        fill(constant.at(), constant.bytes(), CONSTANT);
      }
    }
    requireStatesApart();
    writePorts(chip.states());
    for (ScheduleStep each : chip.start()) {
      step = each;
      play();
    }
    Map<Integer, StartTransfer> atStart = new TreeMap<>(underWay);
    step = null;
    writePorts(chip.inputs());
    for (index = 0; index < chip.steps().size(); index++) {
      step = chip.steps().get(index);
      enter();
      play();
    }
    step = null;
    requireTransfer(
        underWay.equals(atStart), "the transfers in flight before a run: " + atStart, underWay);
    requireTransfer(preloads.isEmpty(), "no preload in flight after a run", preloads.values());
    requireTransfer(begun == null, "no exchange under way after a run", begun);
    for (StateCopies each : copies) {
      require(each.behind() < 0, "states where a run leaves them, in " + each, each.behind());
    }
    for (List<Port> ports : List.of(chip.outputs(), chip.states())) {
      for (Port port : ports) {
        if (port.at().isHome()) {
          requireWritten(port.name(), port.at().offset(), port.type().bytes());
        }
      }
    }
  }

  private void writePorts(List<Port> ports) {
    for (Port port : ports) {
      if (port.at().isHome()) {
        write(port.name(), port.at().offset(), port.type().bytes());
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
        require(taken.stream().noneMatch(own::meets), "separate bytes", state);
        taken.add(own);
      }
    }
  }

  private record Extent(Address at, long bytes) {
    boolean meets(Extent other) {
      return at.memory() == other.at.memory()
          && at.offset() < other.at.offset() + other.bytes
          && other.at.offset() < at.offset() + bytes;
    }
  }

  /** Checks that an address isn't in the working memory, whose contents end with a run. */
  private void requireLasting(Address at, long bytes) {
    require(at.memory() >= ChipSchedule.HOME, "a memory beside " + chip.working().name(), at);
    requireInside(at, bytes);
  }

  private void requireInside(Address at, long bytes) {
    if (at.memory() < 0 || at.memory() >= chip.memories().size()) {
      require(false, "a memory of " + chip.memories().size(), at);
    }
    MemoryUse use = chip.memories().get(at.memory());
    if (at.offset() < 0 || at.offset() + bytes > use.used()) {
      require(
          false, "bytes below " + use.used() + " of " + use.name(), bytes + " from " + at.offset());
    }
  }

  /** Checks that an address is in a memory that transfers reach. */
  private void requireFar(Address at, long bytes) {
    require(at.memory() > ChipSchedule.HOME, "a memory farther than " + chip.home().name(), at);
    requireInside(at, bytes);
  }

  /** Begins live ranges, which must not overlap others and have no values yet. */
  private void enter() {
    alive.removeIf(each -> each.last() < index);
    recent = null;
    while (nextResidence < byFirst.size() && byFirst.get(nextResidence).first() <= index) {
      Residence entering = byFirst.get(nextResidence++);
      requireInside(entering.at(), entering.bytes());
      Extent own = new Extent(entering.at(), entering.bytes());
      for (Residence other : alive) {
        if (own.meets(new Extent(other.at(), other.bytes()))) {
          require(false, "bytes disjoint from " + other, entering);
        }
      }
      requireIdle(entering.at(), entering.bytes());
      fill(entering.at(), entering.bytes(), EMPTY);
      if (entering.at().isHome()) {
        copies.forEach(each -> each.forget(entering.offset(), entering.bytes()));
      }
      alive.add(entering);
    }
  }

  private void fill(long home, long bytes, byte state) {
    fill(Address.home(home), bytes, state);
  }

  private void fill(Address at, long bytes, byte state) {
    Arrays.fill(bytes(at), (int) at.offset(), (int) (at.offset() + bytes), state);
  }

  /** Returns the states of the bytes of the home memory or the working one. */
  private byte[] bytes(Address at) {
    return at.isHome() ? home : working;
  }

  private void play() {
    switch (step) {
      case ScheduleStep.RunTiles run -> play(run);
      case StartTransfer start -> play(start);
      case ScheduleStep.WaitTransfer wait -> {
        StartTransfer ended = underWay.remove(wait.transfer());
        requireTransfer(ended != null, "a transfer in flight", wait);
        fill(ended.home(), ended.bytes(), WRITTEN);
        copies.forEach(each -> each.ended(ended));
      }
      case ScheduleStep.Preload preload -> play(preload);
      case ScheduleStep.AwaitPreload await -> {
        List<ScheduleStep.Preload> ended = preloads.remove(await.preload());
        requireTransfer(ended != null, "a preload in flight", await);
        ended.forEach(each -> fill(working(each), each.bytes(), WRITTEN));
      }
      case ScheduleStep.FetchRows rows -> {
        requireFar(rows.table(), rows.rows() * rows.rowBytes());
        read("indices", rows.indices(), rows.index().packedBytes(rows.count()));
        write("rows", rows.home(), rows.count() * rows.rowBytes());
      }
      case ScheduleStep.BeginExchange begin -> play(begin);
      case ScheduleStep.Exchange exchange -> play(exchange);
      case ScheduleStep.Guard guard -> play(guard);
      case ScheduleStep.Clear clear -> write("zeros", clear.home(), clear.bytes());
    }
  }

  /** Bytes count as written by guarded steps, too: what is read is decided by other guards. */
  private void play(ScheduleStep.Guard guard) {
    guard.conditions().forEach(each -> read("condition", each.home(), 1));
    int end = index + 1 + guard.steps();
    require(
        guard.steps() > 0 && index >= 0 && end <= chip.steps().size(),
        "a guarded region inside of the run",
        guard.steps() + " steps");
    require(
        chip.steps().subList(index + 1, end).stream()
            .noneMatch(ScheduleStep.Guard.class::isInstance),
        "no guard in a guarded region",
        "one");
    guardEnd = end;
  }

  private void play(StartTransfer start) {
    requireFar(start.far(), start.bytes());
    requireTransfer(!underWay.containsKey(start.transfer()), "an unused transfer number", start);
    underWay.put(start.transfer(), start);
    if (start.fetch()) {
      write(start.origin().name(), start.home(), start.bytes());
      fill(start.home(), start.bytes(), ARRIVING);
    } else {
      read(start.origin().name(), start.home(), start.bytes());
      fill(start.home(), start.bytes(), LEAVING);
    }
    for (StateCopies each : copies) {
      String wrong = each.started(start);
      requireTransfer(wrong == null, "the latest bytes of a state", wrong);
    }
  }

  private void play(ScheduleStep.Preload preload) {
    preloads.computeIfAbsent(preload.preload(), each -> new ArrayList<>()).add(preload);
    // A step in a guarded region may be skipped, and the preload with it.
    boolean isStarted = index >= 0 && (index + 1 >= guardEnd || !chip.isStartedByNext(index));
    requireTransfer(isStarted, "a loop or an exchange after it that always runs", preload);
    requireInside(working(preload), preload.bytes());
    requireResidents(preload.origin().name(), working(preload), preload.bytes());
    requireInside(Address.home(preload.home()), preload.bytes());
    for (long at = preload.home(); at < preload.home() + preload.bytes(); at++) {
      if (home[(int) at] != CONSTANT) {
        require(false, "bytes of a constant", at);
      }
    }
    requireIdle(working(preload), preload.bytes());
    fill(working(preload), preload.bytes(), ARRIVING);
  }

  private static Address working(ScheduleStep.Preload preload) {
    return new Address(ChipSchedule.WORKING, preload.working());
  }

  /** Checks that no transfer uses bytes that a step is about to use. */
  private void requireIdle(Address at, long bytes) {
    byte[] memory = bytes(at);
    for (long each = at.offset(); each < at.offset() + bytes; each++) {
      if (memory[(int) each] == ARRIVING || memory[(int) each] == LEAVING) {
        require(false, "no transfer in " + bytes + " bytes from " + at, each);
      }
    }
  }

  /** Until the exchange, messages use its vector and its buffers, and its operand is kept. */
  private void play(ScheduleStep.BeginExchange begin) {
    Optional<ScheduleStep.Exchange> next =
        index < 0 ? Optional.empty() : begin.next(chip.steps(), index);
    requireTransfer(next.isPresent() && begun == null, "an exchange after it", begin);
    ScheduleStep.Exchange exchange = next.orElseThrow();
    int until = index + 1;
    while (chip.steps().get(until) != exchange) {
      until++;
    }
    boolean isGuarded =
        index < guardEnd
            || chip.steps().subList(index, until).stream()
                .anyMatch(ScheduleStep.Guard.class::isInstance);
    require(!isGuarded, "an exchange that begins and ends without a guard", begin);
    requireWorkspace(exchange);
    requireBefore(exchange);
    exchange.operand().ifPresent(at -> keep(at, bytes(exchange, before(exchange))));
    write("vector", exchange.vector(), vectorBytes(exchange));
    fill(exchange.vector(), vectorBytes(exchange), ARRIVING);
    long message = exchange.messageBytes();
    exchange
        .message()
        .ifPresent(
            at -> {
              write("message", at, message);
              fill(at, message, ARRIVING);
            });
    begun = exchange;
  }

  /** Marks an operand as being sent; the exchange gives its bytes their states back. */
  private void keep(long operand, long bytes) {
    kept = Arrays.copyOfRange(home, (int) operand, (int) (operand + bytes));
    fill(operand, bytes, LEAVING);
  }

  private static List<Slice> before(ScheduleStep.Exchange exchange) {
    return exchange.exchanges().getFirst().before();
  }

  private static long bytes(ScheduleStep.Exchange exchange, List<Slice> slices) {
    return exchange.element().packedBytes(Slice.elements(slices));
  }

  private static long vectorBytes(ScheduleStep.Exchange exchange) {
    return exchange.element().packedBytes(exchange.exchanges().getFirst().elements());
  }

  private void requireWorkspace(ScheduleStep.Exchange exchange) {
    require(
        exchange.working() >= 0
            && exchange.working() + exchange.workingBytes() <= chip.working().used(),
        chip.working().name() + " below " + chip.working().used(),
        exchange.workingBytes() + " from " + exchange.working());
    Address workspace = new Address(ChipSchedule.WORKING, exchange.working());
    requireIdle(workspace, exchange.workingBytes());
    fill(workspace, exchange.workingBytes(), EMPTY);
  }

  private void requireBefore(ScheduleStep.Exchange exchange) {
    if (exchange.operand().isPresent()) {
      read("operand", exchange.operand().get(), bytes(exchange, before(exchange)));
    } else if (!before(exchange).isEmpty()) {
      read("vector", exchange.vector(), vectorBytes(exchange));
    }
  }

  private void play(ScheduleStep.Exchange exchange) {
    ElementType element = exchange.element();
    require(element.bits() >= Byte.SIZE, "elements of at least a byte in messages", element);
    requireWorkspace(exchange);
    long message = exchange.messageBytes();
    if (begun == exchange) {
      exchange
          .operand()
          .ifPresent(at -> System.arraycopy(kept, 0, home, at.intValue(), kept.length));
      fill(exchange.vector(), vectorBytes(exchange), WRITTEN);
      exchange.message().ifPresent(at -> fill(at, message, WRITTEN));
      begun = null;
    }
    requireBefore(exchange);
    for (Step step :
        exchange.exchanges().stream().flatMap(each -> each.steps().stream()).toList()) {
      long bytes = element.packedBytes(Slice.elements(step.slices()));
      require(step.bytes() == bytes, "a message of " + bytes + " B", step);
    }
    write("vector", exchange.vector(), vectorBytes(exchange));
    if (message > 0) {
      require(
          exchange.message().isPresent(),
          "a buffer for messages of " + message + " B",
          "no buffer");
      write("message", exchange.message().get(), message);
    }
    if (exchange.result().isPresent()) {
      ScheduleStep.Lines result = exchange.result().get();
      long bytes = bytes(exchange, exchange.exchanges().getFirst().after());
      require(
          result.bytes() > 0 && bytes % result.bytes() == 0 && result.stride() >= result.bytes(),
          "whole lines of " + bytes + " B",
          result);
      for (long at = 0; at < bytes; at += result.bytes()) {
        write("result", result.place(at), result.bytes());
      }
    }
  }

  private void play(ScheduleStep.RunTiles run) {
    TiledKernel kernel = chip.kernels().get(run.kernel());
    require(
        run.operands().size() == kernel.operands().size(),
        kernel.operands().size() + " operands",
        run.operands().size());
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() != Direction.STORE) {
        visit(operand, run.operands().get(i), false);
      }
      if (operand.isNear()) {
        require(
            run.operands().get(i) >= kernel.workingBytes(),
            operand.name() + " behind the tiles of the loop, " + kernel.workingBytes() + " B",
            run.operands().get(i));
      }
    }
    Address tiles = new Address(ChipSchedule.WORKING, 0);
    requireIdle(tiles, kernel.workingBytes());
    fill(tiles, kernel.workingBytes(), EMPTY);
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() == Direction.STORE) {
        requireNoOverlap(run, kernel, i);
        visit(operand, run.operands().get(i), true);
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
              && load.box().equals(store.box());
      require(
          i == stored || isSame || load.isNear() != store.isNear() || !written.meets(read),
          "bytes of " + load.name() + " that no store writes",
          store.name());
    }
  }

  /** Reads or writes the bytes of an operand of a loop. */
  private void visit(TileOperand operand, long offset, boolean writes) {
    int memory = operand.isNear() ? ChipSchedule.WORKING : ChipSchedule.HOME;
    new OperandRows(operand, offset)
        .each(
            (at, bytes) -> {
              if (writes) {
                write(operand.name(), new Address(memory, at), bytes);
              } else {
                read(operand.name(), new Address(memory, at), bytes);
              }
            });
  }

  private void read(String name, long home, long bytes) {
    read(name, Address.home(home), bytes);
  }

  private void read(String name, Address at, long bytes) {
    requireResident(name, at, bytes);
    requireWritten(name, at, bytes);
  }

  private void requireWritten(String name, long home, long bytes) {
    requireWritten(name, Address.home(home), bytes);
  }

  private void requireWritten(String name, Address from, long bytes) {
    requireInside(from, bytes);
    byte[] memory = bytes(from);
    for (long at = from.offset(); at < from.offset() + bytes; at++) {
      byte state = memory[(int) at];
      if (state == EMPTY || state == ARRIVING) {
        require(
            false,
            name + " written before it is read",
            "byte " + at + (state == ARRIVING ? " that a transfer writes" : " without value"));
      }
    }
  }

  private void write(String name, long home, long bytes) {
    write(name, Address.home(home), bytes);
  }

  private void write(String name, Address to, long bytes) {
    requireInside(to, bytes);
    requireResidents(name, to, bytes);
    byte[] memory = bytes(to);
    for (long at = to.offset(); at < to.offset() + bytes; at++) {
      byte state = memory[(int) at];
      if (state != EMPTY && state != WRITTEN) {
        String what = state == CONSTANT ? "a constant" : "a transfer in flight";
        require(false, name + " written to free memory", "byte " + at + " of " + what);
      }
    }
    fill(to, bytes, WRITTEN);
    if (to.isHome()) {
      copies.forEach(each -> each.wrote(to.offset(), bytes));
    }
  }

  /** Checks that bytes belong to one object. */
  private void requireResident(String name, Address at, long bytes) {
    if (bytes > 0 && !chip.residences().isEmpty() && end(at) < at.offset() + bytes) {
      require(false, name + " in memory of a live value", bytes + " from " + at.offset());
    }
  }

  /** Checks that bytes belong to one object, or to several that are adjacent. */
  private void requireResidents(String name, Address at, long bytes) {
    long last = at.offset() + bytes;
    for (long from = at.offset(); from < last && !chip.residences().isEmpty(); ) {
      long end = end(new Address(at.memory(), from));
      if (end == from) {
        require(false, name + " in memory of live values", bytes + " from " + at.offset());
      }
      from = end;
    }
  }

  /** Returns the end of the object at an address; the address itself if there is none. */
  private long end(Address at) {
    if (recent == null || !recent.holds(at)) {
      recent = null;
      for (Residence each : alive) {
        if (each.holds(at)) {
          recent = each;
          break;
        }
      }
    }
    return recent == null ? at.offset() : recent.offset() + recent.bytes();
  }
}
