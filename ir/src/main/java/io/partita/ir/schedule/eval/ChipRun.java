package io.partita.ir.schedule.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.FetchRows;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A device: its memories, which persist between runs, and its progress in a run. */
final class ChipRun {
  private final List<ChipSchedule> entries;
  private final int member;
  private final int device;
  private final Mailbox mailbox;
  private final LocalMemory working;
  private final LocalMemory home;

  /** The memories from the third on. */
  private final List<FarMemory> farther = new ArrayList<>();

  private final BitSet constants = new BitSet();
  private final Map<Integer, Moving> underWay = new HashMap<>();
  private final Map<Integer, List<ScheduleStep.Preload>> preloads = new HashMap<>();
  private final Map<Integer, Fetched> rows = new HashMap<>();

  private ChipSchedule chip;
  private List<ScheduleStep> steps = List.of();
  private boolean isStarting;
  private int next;

  /** The step after the guarded region that the device skips, if it is in one. */
  private int skippedTo;

  /**
   * A transfer that is under way.
   *
   * @param parts the bytes that it moves, from its start
   */
  private record Moving(StartTransfer start, List<StateLines.Run> parts) {}

  /** Rows on their way; an index is negative if it was out of range. */
  private record Fetched(FetchRows rows, long[] indices) {}

  /** The exchange that is under way, if any, and whether the chip is at its step. */
  private ExchangeSteps exchange;

  private boolean isExchanging;

  /**
   * @param entries the entry points of the device's role
   * @param member the index of the device in the role
   */
  ChipRun(List<ChipSchedule> entries, int member, Mailbox mailbox) {
    this.entries = entries;
    this.member = member;
    this.mailbox = mailbox;
    this.chip = entries.getFirst();
    this.device = chip.devices().get(member);
    this.working = memory(ChipSchedule.WORKING);
    this.home = memory(ChipSchedule.HOME);
    for (int memory = ChipSchedule.HOME + 1; memory < chip.memories().size(); memory++) {
      farther.add(new FarMemory(chip, member, memory));
    }
    for (StoredConstant constant : chip.constants()) {
      if (constant.at().isHome()) {
        int from = Math.toIntExact(constant.at().offset());
        write(constant.name(), from, constant.tensors().get(member));
        home.write(from, (int) constant.bytes());
        home.hold(from, (int) constant.bytes());
        constants.set(from, from + (int) constant.bytes());
      }
    }
    clearStates();
  }

  private LocalMemory memory(int number) {
    long bytes =
        entries.stream().mapToLong(each -> each.memories().get(number).used()).max().orElse(0);
    return new LocalMemory(chip.memories().get(number).name(), bytes);
  }

  private FarMemory far(Address at) {
    if (at.memory() <= ChipSchedule.HOME || at.memory() >= chip.memories().size()) {
      throw fault("", "a memory farther than " + home.name(), at);
    }
    return farther.get(at.memory() - ChipSchedule.HOME - 1);
  }

  int device() {
    return device;
  }

  private void write(String name, int to, Tensor tensor) {
    MemorySegment data = tensor.bytes();
    int bytes = Math.toIntExact(data.byteSize());
    if (!home.contains(to, bytes)) {
      throw fault(
          name, "bytes below " + home.bytes().length + " of " + home.name(), bytes + " from " + to);
    }
    MemorySegment.copy(data, ValueLayout.JAVA_BYTE, 0, home.bytes(), to, bytes);
    home.write(to, bytes);
  }

  /** Resets states to zeros, as before the first run. */
  void clearStates() {
    farther.forEach(FarMemory::reset);
    for (Port state : chip.states()) {
      if (state.at().isHome()) {
        int from = Math.toIntExact(state.at().offset());
        int bytes = Math.toIntExact(state.type().bytes());
        Arrays.fill(home.bytes(), from, from + bytes, (byte) 0);
        home.write(from, bytes);
      }
    }
  }

  /** Runs the steps before the first run. */
  void start() {
    steps = chip.start();
    isStarting = true;
    next = 0;
    skippedTo = 0;
  }

  /**
   * Begins a run.
   *
   * @param parts the parts of inputs that the device holds, by name
   */
  void begin(int entry, Map<String, Tensor> parts) {
    chip = entries.get(entry);
    steps = chip.steps();
    isStarting = false;
    next = 0;
    skippedTo = 0;
    forgetOtherRuns();
    for (Port input : chip.inputs()) {
      Tensor part = parts.get(input.name());
      if (part == null || !part.type().equals(input.type()) || !input.at().isHome()) {
        throw fault("input " + input.name(), input.type() + " in " + home.name(), "" + part);
      }
      write(input.name(), Math.toIntExact(input.at().offset()), part);
    }
  }

  /** Clears all bytes except constants, states and values that exist before a run. */
  private void forgetOtherRuns() {
    working.forget(0, working.bytes().length);
    if (chip.residences().isEmpty()) {
      return;
    }
    BitSet kept = new BitSet();
    kept.or(constants);
    for (Port state : chip.states()) {
      if (state.at().isHome()) {
        int from = (int) state.at().offset();
        kept.set(from, from + (int) state.type().bytes());
      }
    }
    for (Residence residence : chip.residences()) {
      if (residence.first() < 0 && residence.at().isHome()) {
        kept.set((int) residence.offset(), (int) (residence.offset() + residence.bytes()));
      }
    }
    home.forgetAllBut(kept);
  }

  boolean isDone() {
    return next == steps.size();
  }

  /** Runs until it would wait; returns whether it made progress. */
  boolean advance() {
    boolean moved = false;
    while (!isDone()) {
      if (!isExchanging) {
        enter();
      }
      if (next < skippedTo && steps.get(next).isSkippable()) {
        next++;
        moved = true;
        continue;
      }
      if (steps.get(next) instanceof ScheduleStep.Exchange step) {
        if (exchange == null) {
          exchange = new ExchangeSteps(step, member, device, home, mailbox, where());
        }
        isExchanging = true;
        moved |= exchange.advance();
        if (!exchange.isDone()) {
          return moved;
        }
        exchange = null;
        isExchanging = false;
      } else {
        run(steps.get(next));
      }
      next++;
      moved = true;
    }
    return moved;
  }

  /** Begins live ranges, which have no values yet. */
  private void enter() {
    for (Residence residence : isStarting ? List.<Residence>of() : chip.residences()) {
      if (residence.first() == next) {
        LocalMemory memory = residence.at().isHome() ? home : working;
        memory.forget((int) residence.offset(), (int) residence.bytes());
      }
    }
  }

  private void run(ScheduleStep step) {
    switch (step) {
      case ScheduleStep.RunTiles run -> run(run);
      case StartTransfer start -> start(start);
      case ScheduleStep.WaitTransfer wait -> {
        Moving ended = underWay.remove(wait.transfer());
        if (ended == null) {
          throw transferFault("a transfer in flight", wait);
        }
        end(ended);
      }
      case ScheduleStep.Preload preload -> start(preload);
      case ScheduleStep.AwaitPreload await -> {
        List<ScheduleStep.Preload> ended = preloads.remove(await.preload());
        if (ended == null) {
          throw transferFault("a preload in flight", await);
        }
        ended.forEach(this::end);
      }
      case FetchRows fetch -> start(fetch);
      case ScheduleStep.AwaitRows await -> {
        Fetched ended = rows.remove(await.number());
        if (ended == null) {
          throw transferFault("rows on their way", await);
        }
        end(ended);
      }
      case ScheduleStep.Clear clear -> {
        requireWritable(clear.home(), clear.bytes());
        Arrays.fill(
            home.bytes(), (int) clear.home(), (int) (clear.home() + clear.bytes()), (byte) 0);
        home.write((int) clear.home(), (int) clear.bytes());
      }
      case ScheduleStep.Guard guard -> {
        if (!guard.conditions().stream().allMatch(this::holds)) {
          skippedTo = next + 1 + guard.steps();
        }
      }
      case ScheduleStep.BeginExchange begin -> {
        ScheduleStep.Exchange begun =
            begin.next(steps, next).orElseThrow(() -> transferFault("an exchange after it", begin));
        exchange = new ExchangeSteps(begun, member, device, home, mailbox, where());
        exchange.sendFirst();
      }
      case ScheduleStep.Exchange other -> throw new AssertionError(other);
    }
  }

  private boolean holds(ScheduleStep.Condition condition) {
    requireRead(condition.home(), 1);
    return home.bytes()[(int) condition.home()] != 0 == condition.expected();
  }

  private void run(ScheduleStep.RunTiles run) {
    LoopRun loop =
        new LoopRun(chip.kernels().get(run.kernel()), run.operands(), working, home, where());
    if (chip.working().isPrivate()) {
      loop.run(chip.cores());
    } else {
      loop.run();
    }
  }

  /** Bytes are copied when the transfer is awaited; until then they must not be used. */
  private void start(StartTransfer start) {
    if (underWay.putIfAbsent(start.transfer(), new Moving(start, parts(start))) != null) {
      throw transferFault("an unused transfer number", start);
    }
    int at = Math.toIntExact(start.home());
    int bytes = Math.toIntExact(start.extent());
    if (start.fetch()) {
      requireWritable(at, bytes);
      home.forget(at, bytes);
    } else {
      requireRead(at, bytes);
    }
    home.hold(at, bytes);
  }

  private List<StateLines.Run> parts(StartTransfer start) {
    if (start.lines().isEmpty()) {
      return List.of(new StateLines.Run(0, start.bytes()));
    }
    StateLines lines = start.lines().get();
    requireRead(lines.position(), lines.index().packedBytes(1));
    Place position = new Place(home.bytes(), (int) lines.position());
    return lines.runs(position.longs(lines.index(), 1)[0]);
  }

  private void end(Moving ended) {
    StartTransfer start = ended.start;
    home.release((int) start.home(), (int) start.extent());
    for (StateLines.Run part : ended.parts) {
      int at = (int) (start.home() + part.offset());
      long far = start.far().offset() + part.offset();
      if (start.fetch()) {
        far(start.far()).read(far, home, at, (int) part.bytes());
      } else {
        long wrong = far(start.far()).write(far, home.bytes(), at, (int) part.bytes());
        if (wrong >= 0) {
          throw transferFault("bytes of states", "byte " + wrong);
        }
      }
    }
  }

  private void start(ScheduleStep.Preload preload) {
    preloads.computeIfAbsent(preload.preload(), each -> new ArrayList<>()).add(preload);
    requireRead(preload.home(), preload.bytes());
    if (!working.contains(preload.working(), preload.bytes())) {
      throw ScheduleFault.MEMORY.at(
          where(), "bytes below " + working.bytes().length + " of " + working.name(), preload);
    }
    working.forget((int) preload.working(), (int) preload.bytes());
  }

  private void end(ScheduleStep.Preload ended) {
    int to = (int) ended.working();
    int bytes = (int) ended.bytes();
    System.arraycopy(home.bytes(), (int) ended.home(), working.bytes(), to, bytes);
    working.write(to, bytes);
  }

  private void start(FetchRows fetch) {
    int count = Math.toIntExact(fetch.count());
    int at = Math.toIntExact(fetch.home());
    int bytes = Math.toIntExact(fetch.bytes());
    ElementType element = fetch.index();
    requireRead(fetch.indices(), element.packedBytes(count));
    requireWritable(at, bytes);
    long[] indices =
        Arrays.stream(new Place(home.bytes(), (int) fetch.indices()).longs(element, count))
            .map(index -> index < 0 ? index + fetch.rows() : index)
            .map(index -> index < fetch.rows() ? index : -1)
            .toArray();
    if (rows.putIfAbsent(fetch.number(), new Fetched(fetch, indices)) != null) {
      throw transferFault("an unused number of rows", fetch);
    }
    home.forget(at, bytes);
    home.hold(at, bytes);
  }

  private void end(Fetched ended) {
    FetchRows fetch = ended.rows;
    int rowBytes = (int) fetch.rowBytes();
    int to = (int) fetch.home();
    home.release(to, (int) fetch.bytes());
    for (long index : ended.indices) {
      if (index >= 0) {
        far(fetch.table()).read(fetch.table().offset() + index * rowBytes, home, to, rowBytes);
      } else {
        Arrays.fill(home.bytes(), to, to + rowBytes, (byte) 0);
        home.write(to, rowBytes);
      }
      to += rowBytes;
    }
  }

  /** Returns tensors that the run left in the home memory. */
  Map<String, Tensor> outputs() {
    Map<String, Tensor> outputs = new HashMap<>();
    for (Port output : chip.outputs()) {
      int bytes = Math.toIntExact(output.type().bytes());
      int from = Math.toIntExact(output.at().offset());
      if (!home.contains(from, bytes) || home.unwritten(from, bytes) >= 0) {
        throw fault(
            "output " + output.name(),
            "initialised bytes",
            "byte "
                + home.unwritten(from, bytes)
                + " of "
                + home.name()
                + " that isn't initialised");
      }
      byte[] copy = Arrays.copyOfRange(home.bytes(), from, from + bytes);
      outputs.put(output.name(), Tensor.of(output.type(), MemorySegment.ofArray(copy)));
    }
    return outputs;
  }

  private void requireRead(long from, long bytes) {
    int missing = home.contains(from, bytes) ? home.unwritten((int) from, (int) bytes) : (int) from;
    if (missing >= 0) {
      throw fault(
          "",
          "bytes of " + home.name() + " that are initialised",
          "byte " + missing + " that isn't initialised");
    }
  }

  private void requireWritable(long from, long bytes) {
    int held = home.contains(from, bytes) ? home.held((int) from, (int) bytes) : (int) from;
    if (held >= 0) {
      throw fault(
          "",
          "bytes of " + home.name() + " that may be written",
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
            .formatted(device, isStarting ? "start" : "step", next, steps.get(next).origin().name())
        : "device " + device;
  }

  /** Describes the current position. */
  @Override
  public String toString() {
    return isDone() ? "device " + device + " is done" : exchange == null ? where() : "" + exchange;
  }
}
