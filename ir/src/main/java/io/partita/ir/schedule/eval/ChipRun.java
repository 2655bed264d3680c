package io.partita.ir.schedule.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Level;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.FetchRows;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One device: its memories, which stay from run to run, and how far it is in a run. */
final class ChipRun {
  private final List<ChipSchedule> entries;
  private final int member;
  private final int device;
  private final Mailbox mailbox;
  private final LocalMemory l1;
  private final LocalMemory l2;
  private final FarMemory l3;
  private final BitSet constants = new BitSet();
  private final Map<Integer, StartTransfer> underWay = new HashMap<>();

  private ChipSchedule chip;
  private List<ScheduleStep> steps = List.of();
  private boolean isStarting;
  private int next;

  /** Of the exchange that the device is in, if it is. */
  private ExchangeSteps exchange;

  /**
   * @param entries of the device's role
   * @param member which of the role's devices it is
   */
  ChipRun(List<ChipSchedule> entries, int member, Mailbox mailbox) {
    this.entries = entries;
    this.member = member;
    this.mailbox = mailbox;
    this.chip = entries.getFirst();
    this.device = chip.devices().get(member);
    this.l1 = new LocalMemory(entries.stream().mapToLong(each -> each.l1().used()).max().orElse(0));
    this.l2 = new LocalMemory(entries.stream().mapToLong(each -> each.l2().used()).max().orElse(0));
    this.l3 = new FarMemory(chip, member);
    for (StoredConstant constant : chip.constants()) {
      if (constant.level() == Level.L2) {
        int from = Math.toIntExact(constant.offset());
        write(constant.name(), from, constant.tensors().get(member));
        l2.write(from, (int) constant.bytes());
        l2.hold(from, (int) constant.bytes());
        constants.set(from, from + (int) constant.bytes());
      }
    }
    clearStates();
  }

  int device() {
    return device;
  }

  private void write(String name, int to, Tensor tensor) {
    MemorySegment data = tensor.bytes();
    int bytes = Math.toIntExact(data.byteSize());
    if (!l2.contains(to, bytes)) {
      throw fault(name, "bytes below " + l2.bytes().length + " of L2", bytes + " from " + to);
    }
    MemorySegment.copy(data, ValueLayout.JAVA_BYTE, 0, l2.bytes(), to, bytes);
    l2.write(to, bytes);
  }

  /** States are zeros, as before the first run. */
  void clearStates() {
    l3.reset();
    for (Port state : chip.states()) {
      if (state.level() == Level.L2) {
        int from = Math.toIntExact(state.offset());
        int bytes = Math.toIntExact(state.type().bytes());
        Arrays.fill(l2.bytes(), from, from + bytes, (byte) 0);
        l2.write(from, bytes);
      }
    }
  }

  /** Goes through the steps before the first run. */
  void start() {
    steps = chip.start();
    isStarting = true;
    next = 0;
  }

  /**
   * Begins a run.
   *
   * @param parts of the inputs that the device holds, by name
   */
  void begin(int entry, Map<String, Tensor> parts) {
    chip = entries.get(entry);
    steps = chip.steps();
    isStarting = false;
    next = 0;
    forgetOtherRuns();
    for (Port input : chip.inputs()) {
      Tensor part = parts.get(input.name());
      if (part == null || !part.type().equals(input.type()) || input.level() != Level.L2) {
        throw fault("input " + input.name(), input.type() + " in " + input.level(), "" + part);
      }
      write(input.name(), Math.toIntExact(input.offset()), part);
    }
  }

  /** Only constants, states and what is there before a run have values. */
  private void forgetOtherRuns() {
    if (chip.residences().isEmpty()) {
      return;
    }
    BitSet kept = new BitSet();
    kept.or(constants);
    for (Port state : chip.states()) {
      if (state.level() == Level.L2) {
        kept.set((int) state.offset(), (int) (state.offset() + state.type().bytes()));
      }
    }
    for (Residence residence : chip.residences()) {
      if (residence.first() < 0) {
        kept.set((int) residence.offset(), (int) (residence.offset() + residence.bytes()));
      }
    }
    l2.forgetAllBut(kept);
  }

  boolean isDone() {
    return next == steps.size();
  }

  /** As far as it gets; whether it got anywhere. */
  boolean advance() {
    boolean moved = false;
    while (!isDone()) {
      if (exchange == null) {
        enter();
      }
      if (steps.get(next) instanceof ScheduleStep.Exchange step) {
        if (exchange == null) {
          exchange = new ExchangeSteps(step, member, device, l2, mailbox, where());
        }
        moved |= exchange.advance();
        if (!exchange.isDone()) {
          return moved;
        }
        exchange = null;
      } else {
        run(steps.get(next));
      }
      next++;
      moved = true;
    }
    return moved;
  }

  /** What comes to L2 with this step has no value yet. */
  private void enter() {
    for (Residence residence : isStarting ? List.<Residence>of() : chip.residences()) {
      if (residence.first() == next) {
        l2.forget((int) residence.offset(), (int) residence.bytes());
      }
    }
  }

  private void run(ScheduleStep step) {
    switch (step) {
      case ScheduleStep.RunTiles run ->
          new LoopRun(chip.kernels().get(run.kernel()), run.operands(), l1, l2, where()).run();
      case StartTransfer start -> start(start);
      case ScheduleStep.WaitTransfer wait -> {
        StartTransfer ended = underWay.remove(wait.transfer());
        if (ended == null) {
          throw transferFault("a transfer that is under way", wait);
        }
        end(ended);
      }
      case FetchRows rows -> fetch(rows);
      case ScheduleStep.Clear clear -> {
        requireWritable(clear.l2(), clear.bytes());
        Arrays.fill(l2.bytes(), (int) clear.l2(), (int) (clear.l2() + clear.bytes()), (byte) 0);
        l2.write((int) clear.l2(), (int) clear.bytes());
      }
      case ScheduleStep.Exchange other -> throw new AssertionError(other);
    }
  }

  /** Bytes move when the transfer is awaited; until then nobody may touch them. */
  private void start(StartTransfer start) {
    if (underWay.putIfAbsent(start.transfer(), start) != null) {
      throw transferFault("a number that isn't under way", start);
    }
    int at = Math.toIntExact(start.l2());
    int bytes = Math.toIntExact(start.bytes());
    if (start.fetch()) {
      requireWritable(at, bytes);
      l2.forget(at, bytes);
    } else {
      requireRead(at, bytes);
    }
    l2.hold(at, bytes);
  }

  private void end(StartTransfer ended) {
    int at = (int) ended.l2();
    int bytes = (int) ended.bytes();
    l2.release(at, bytes);
    if (ended.fetch()) {
      l3.read(ended.l3(), l2, at, bytes);
      return;
    }
    long wrong = l3.write(ended.l3(), l2.bytes(), at, bytes);
    if (wrong >= 0) {
      throw transferFault("bytes of states in L3", "byte " + wrong);
    }
  }

  private void fetch(FetchRows rows) {
    int count = Math.toIntExact(rows.count());
    int rowBytes = Math.toIntExact(rows.rowBytes());
    requireRead(rows.indices(), rows.index().packedBytes(count));
    requireWritable(rows.l2(), (long) count * rowBytes);
    ElementType element = rows.index();
    long[] indices = new Place(l2.bytes(), (int) rows.indices()).longs(element, count);
    for (int i = 0; i < count; i++) {
      long index = indices[i] < 0 ? indices[i] + rows.rows() : indices[i];
      int to = (int) rows.l2() + i * rowBytes;
      if (index >= 0 && index < rows.rows()) {
        l3.read(rows.l3() + index * rowBytes, l2, to, rowBytes);
      } else {
        Arrays.fill(l2.bytes(), to, to + rowBytes, (byte) 0);
        l2.write(to, rowBytes);
      }
    }
  }

  /** A tensor that the run left in L2. */
  Map<String, Tensor> outputs() {
    Map<String, Tensor> outputs = new HashMap<>();
    for (Port output : chip.outputs()) {
      int bytes = Math.toIntExact(output.type().bytes());
      int from = Math.toIntExact(output.offset());
      if (!l2.contains(from, bytes) || l2.unwritten(from, bytes) >= 0) {
        throw fault(
            "output " + output.name(),
            "bytes that were written",
            "byte " + l2.unwritten(from, bytes) + " of L2 that nobody wrote");
      }
      byte[] copy = Arrays.copyOfRange(l2.bytes(), from, from + bytes);
      outputs.put(output.name(), Tensor.of(output.type(), MemorySegment.ofArray(copy)));
    }
    return outputs;
  }

  private void requireRead(long from, long bytes) {
    int missing = l2.contains(from, bytes) ? l2.unwritten((int) from, (int) bytes) : (int) from;
    if (missing >= 0) {
      throw fault("", "bytes of L2 that were written", "byte " + missing + " that nobody wrote");
    }
  }

  private void requireWritable(long from, long bytes) {
    int held = l2.contains(from, bytes) ? l2.held((int) from, (int) bytes) : (int) from;
    if (held >= 0) {
      throw fault(
          "",
          "bytes of L2 that may be written to",
          "byte " + held + " of a constant or a transfer, or outside");
    }
  }

  private PartitaException fault(String part, Object expected, Object found) {
    String where = part.isEmpty() ? where() : where() + ", " + part;
    return ScheduleFault.MEMORY.at(where, expected, found);
  }

  private PartitaException transferFault(Object expected, Object found) {
    return ScheduleFault.TRANSFER.at(where(), expected, found);
  }

  private String where() {
    return next < steps.size()
        ? "device %d, %s %d for \"%s\""
            .formatted(device, isStarting ? "start" : "step", next, steps.get(next).node())
        : "device " + device;
  }

  /** Where it stands. */
  @Override
  public String toString() {
    return isDone() ? "device " + device + " is done" : exchange == null ? where() : "" + exchange;
  }
}
