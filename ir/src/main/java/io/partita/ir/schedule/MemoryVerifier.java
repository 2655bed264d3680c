package io.partita.ir.schedule;

import io.partita.ir.program.Combine;
import io.partita.ir.program.Slice;
import io.partita.ir.program.Step;
import io.partita.ir.schedule.ChipSchedule.Level;
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
import java.util.TreeMap;

/**
 * Plays the first run of a chip, which leaves to the next one what it began with, byte by byte of
 * L2: whether each byte that is read was written since it belongs to what is read, whether
 * constants stay as they are, whether transfers are left alone until they have ended, and whether
 * L3 gets what a run changes of its states.
 */
final class MemoryVerifier {
  private static final byte EMPTY = 0;
  private static final byte WRITTEN = 1;
  private static final byte CONSTANT = 2;
  private static final byte ARRIVING = 3;
  private static final byte LEAVING = 4;

  private final ChipSchedule chip;
  private final byte[] l2;
  private final StateCopies copies;
  private final Map<Integer, StartTransfer> underWay = new TreeMap<>();
  private final List<Residence> byFirst;
  private final List<Residence> alive = new ArrayList<>();
  private int nextResidence;
  private int index;
  private ScheduleStep step;

  private MemoryVerifier(ChipSchedule chip) {
    this.chip = chip;
    this.l2 = new byte[Math.toIntExact(chip.l2().used())];
    this.copies = new StateCopies(chip);
    this.byFirst = new ArrayList<>(chip.residences());
    byFirst.sort(Comparator.comparingInt(Residence::first));
  }

  static void verify(ChipSchedule chip) {
    new MemoryVerifier(chip).run();
  }

  private String where() {
    return "device "
        + chip.devices().getFirst()
        + (step == null ? "" : ", step " + index + " for \"" + step.node() + '"');
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
      requireInside(constant.offset(), constant.bytes(), constant.level());
      if (constant.level() == Level.L2) {
        fill(constant.offset(), constant.bytes(), CONSTANT);
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
        underWay.equals(atStart), "what is under way before a run: " + atStart, underWay);
    require(copies.behind() < 0, "states in L3 as a run leaves them", copies.behind());
    for (List<Port> ports : List.of(chip.outputs(), chip.states())) {
      for (Port port : ports) {
        if (port.level() == Level.L2) {
          requireWritten(port.name(), port.offset(), port.type().bytes());
        }
      }
    }
  }

  private void writePorts(List<Port> ports) {
    for (Port port : ports) {
      if (port.level() == Level.L2) {
        write(port.name(), port.offset(), port.type().bytes());
      }
    }
  }

  /** Of constants and of each other. */
  private void requireStatesApart() {
    List<long[]> taken = new ArrayList<>();
    for (StoredConstant constant : chip.constants()) {
      if (constant.level() == Level.L3) {
        taken.add(new long[] {constant.offset(), constant.offset() + constant.bytes()});
      }
    }
    for (Port state : chip.states()) {
      if (state.level() == Level.L3) {
        long end = state.offset() + state.type().bytes();
        requireInside(state.offset(), state.type().bytes(), Level.L3);
        for (long[] other : taken) {
          require(end <= other[0] || other[1] <= state.offset(), "bytes of its own", state);
        }
        taken.add(new long[] {state.offset(), end});
      }
    }
  }

  private void requireInside(long offset, long bytes, Level level) {
    long used = level == Level.L2 ? chip.l2().used() : chip.l3().used();
    if (offset < 0 || offset + bytes > used) {
      require(false, "bytes below " + used + " of " + level, bytes + " from " + offset);
    }
  }

  /** What begins at this step has other bytes than all that is there, and nothing in them. */
  private void enter() {
    alive.removeIf(each -> each.last() < index);
    while (nextResidence < byFirst.size() && byFirst.get(nextResidence).first() <= index) {
      Residence entering = byFirst.get(nextResidence++);
      requireInside(entering.offset(), entering.bytes(), Level.L2);
      for (Residence other : alive) {
        require(
            entering.offset() + entering.bytes() <= other.offset()
                || other.offset() + other.bytes() <= entering.offset(),
            "bytes beside " + other,
            entering);
      }
      for (long at = entering.offset(); at < entering.offset() + entering.bytes(); at++) {
        if (l2[(int) at] == ARRIVING || l2[(int) at] == LEAVING) {
          require(false, "no transfer in " + entering, at);
        }
      }
      fill(entering.offset(), entering.bytes(), EMPTY);
      copies.forget(entering.offset(), entering.bytes());
      alive.add(entering);
    }
  }

  private void fill(long offset, long bytes, byte state) {
    Arrays.fill(l2, (int) offset, (int) (offset + bytes), state);
  }

  private void play() {
    switch (step) {
      case ScheduleStep.RunTiles run -> play(run);
      case StartTransfer start -> play(start);
      case ScheduleStep.WaitTransfer wait -> {
        StartTransfer ended = underWay.remove(wait.transfer());
        requireTransfer(ended != null, "a transfer that is under way", wait);
        fill(ended.l2(), ended.bytes(), WRITTEN);
        copies.ended(ended);
      }
      case ScheduleStep.FetchRows rows -> {
        requireInside(rows.l3(), rows.rows() * rows.rowBytes(), Level.L3);
        read("indices", rows.indices(), rows.index().packedBytes(rows.count()));
        write("rows", rows.l2(), rows.count() * rows.rowBytes());
      }
      case ScheduleStep.Exchange exchange -> play(exchange);
      case ScheduleStep.Clear clear -> write("zeros", clear.l2(), clear.bytes());
    }
  }

  private void play(StartTransfer start) {
    requireInside(start.l3(), start.bytes(), Level.L3);
    requireTransfer(
        !underWay.containsKey(start.transfer()), "a number that isn't under way", start);
    underWay.put(start.transfer(), start);
    if (start.fetch()) {
      write(start.node(), start.l2(), start.bytes());
      fill(start.l2(), start.bytes(), ARRIVING);
    } else {
      read(start.node(), start.l2(), start.bytes());
      fill(start.l2(), start.bytes(), LEAVING);
    }
    String wrong = copies.started(start);
    requireTransfer(wrong == null, "the newest bytes of a state", wrong);
  }

  private void play(ScheduleStep.Exchange exchange) {
    var one = exchange.exchanges().getFirst();
    ElementType element = exchange.element();
    require(element.bits() >= Byte.SIZE, "elements of whole bytes in messages", element);
    long vector = element.packedBytes(one.elements());
    require(
        exchange.l1() >= 0 && exchange.l1() + exchange.l1Bytes() <= chip.l1().used(),
        "L1 below " + chip.l1().used(),
        exchange.l1Bytes() + " from " + exchange.l1());
    if (exchange.operand().isPresent()) {
      read("operand", exchange.operand().get(), element.packedBytes(elements(one.before())));
    } else if (!one.before().isEmpty()) {
      read("vector", exchange.vector(), vector);
    }
    for (Step step :
        exchange.exchanges().stream().flatMap(each -> each.steps().stream()).toList()) {
      long bytes = element.packedBytes(elements(step.slices()));
      require(step.bytes() == bytes, "a message of " + bytes + " B", step);
    }
    write("vector", exchange.vector(), vector);
    long message =
        exchange.exchanges().stream()
            .flatMap(each -> each.steps().stream())
            .filter(each -> !isInPlace(each))
            .mapToLong(Step::bytes)
            .max()
            .orElse(0);
    write("message", exchange.message(), message);
    if (exchange.result().isPresent()) {
      write("result", exchange.result().get(), element.packedBytes(elements(one.after())));
    }
  }

  private static boolean isInPlace(Step step) {
    return step.slices().size() == 1
        && !(step instanceof Step.Receive in && in.combine() != Combine.REPLACE);
  }

  private static long elements(List<Slice> slices) {
    return slices.stream().mapToLong(Slice::size).sum();
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
        new Rows(operand, run.operands().get(i), false).visit();
      }
    }
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() == Direction.STORE) {
        requireNoOverlap(run, kernel, i);
        new Rows(operand, run.operands().get(i), true).visit();
      }
    }
  }

  /** What is loaded mayn't be stored to by other tiles: only the same tiles of the same bytes. */
  private void requireNoOverlap(ScheduleStep.RunTiles run, TiledKernel kernel, int stored) {
    TileOperand store = kernel.operands().get(stored);
    Rows written = new Rows(store, run.operands().get(stored), true);
    for (int i = 0; i < run.operands().size(); i++) {
      TileOperand load = kernel.operands().get(i);
      Rows read = new Rows(load, run.operands().get(i), false);
      boolean isSame =
          run.operands().get(i).equals(run.operands().get(stored))
              && load.element().bits() == store.element().bits()
              && load.box().equals(store.box());
      require(
          i == stored || isSame || !written.meets(read),
          "bytes of " + load.name() + " that nothing is stored to",
          store.name());
    }
  }

  /** The bytes of an operand of a loop, row by row. */
  private final class Rows {
    private final TileOperand operand;
    private final long offset;
    private final boolean writes;
    private final int rank;
    private final long rowElements;

    Rows(TileOperand operand, long offset, boolean writes) {
      this.operand = operand;
      this.offset = offset;
      this.writes = writes;
      int outer = operand.box().size();
      long elements = 1;
      while (outer > 0 && contiguous(operand.box().get(outer - 1), elements)) {
        elements *= operand.box().get(--outer).extent();
      }
      this.rank = outer;
      this.rowElements = elements;
    }

    private static boolean contiguous(BoxDimension dimension, long within) {
      return dimension.extent() == 1 || dimension.stride() == within;
    }

    private long bytes(long elements) {
      return operand.element().packedBytes(elements);
    }

    /** Whether any byte may belong to both: exact where both have the same rows. */
    boolean meets(Rows other) {
      if (end() <= other.offset || other.end() <= offset) {
        return false;
      }
      boolean[] mine = new boolean[(int) (end() - offset)];
      each(
          0,
          0,
          (at, size) -> Arrays.fill(mine, (int) (at - offset), (int) (at + size - offset), true));
      boolean[] found = new boolean[1];
      other.each(
          0,
          0,
          (at, size) -> {
            for (long each = Math.max(at, offset); each < Math.min(at + size, end()); each++) {
              found[0] |= mine[(int) (each - offset)];
            }
          });
      return found[0];
    }

    private long end() {
      long last = 0;
      for (BoxDimension dimension : operand.box()) {
        last += (dimension.extent() - 1) * dimension.stride();
      }
      return offset + bytes(last + 1);
    }

    void visit() {
      each(
          0,
          0,
          (at, size) -> {
            if (writes) {
              write(operand.name(), at, size);
            } else {
              read(operand.name(), at, size);
            }
          });
    }

    private interface Row {
      void at(long offset, long bytes);
    }

    private void each(int dimension, long elements, Row row) {
      if (dimension == rank) {
        row.at(offset + bytes(elements), bytes(rowElements));
        return;
      }
      BoxDimension one = operand.box().get(dimension);
      long indices = one.stride() == 0 ? 1 : one.extent();
      for (long i = 0; i < indices; i++) {
        each(dimension + 1, elements + i * one.stride(), row);
      }
    }
  }

  private void read(String name, long offset, long bytes) {
    requireResident(name, offset, bytes);
    requireWritten(name, offset, bytes);
  }

  private void requireWritten(String name, long offset, long bytes) {
    requireInside(offset, bytes, Level.L2);
    for (long at = offset; at < offset + bytes; at++) {
      byte state = l2[(int) at];
      if (state == EMPTY || state == ARRIVING) {
        require(
            false,
            name + " to be written before it's read",
            "byte " + at + (state == ARRIVING ? " that a transfer writes" : " without value"));
      }
    }
  }

  private void write(String name, long offset, long bytes) {
    requireInside(offset, bytes, Level.L2);
    requireResident(name, offset, bytes);
    for (long at = offset; at < offset + bytes; at++) {
      byte state = l2[(int) at];
      if (state != EMPTY && state != WRITTEN) {
        String what = state == CONSTANT ? "a constant" : "a transfer that is under way";
        require(false, name + " to be written where nothing else is", "byte " + at + " of " + what);
      }
    }
    fill(offset, bytes, WRITTEN);
    copies.wrote(offset, bytes);
  }

  private void requireResident(String name, long offset, long bytes) {
    boolean isResident =
        bytes == 0
            || chip.residences().isEmpty()
            || alive.stream()
                .anyMatch(
                    each ->
                        each.offset() <= offset && offset + bytes <= each.offset() + each.bytes());
    if (!isResident) {
      require(false, name + " to be where something is", bytes + " from " + offset);
    }
  }
}
