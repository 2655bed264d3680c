package io.partita.ir.schedule.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Accesses;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.KernelAccess;
import io.partita.ir.schedule.kernel.KernelAccess.Kind;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A run of one loop over tiles: each tile's operands are copied to the working memory, kernels
 * compute there, and results are copied back. A tile is loaded when the loop reaches it; that
 * devices prefetch it while the previous one is computed makes no difference, because no loop loads
 * bytes that it stores in other tiles.
 */
final class LoopRun {
  private final TiledKernel kernel;
  private final List<Long> places;
  private final LocalMemory working;
  private final LocalMemory home;
  private final String step;
  private final List<TileCall> calls = new ArrayList<>();

  private final TileWalk tile;

  /** The slot of the working memory that holds the tile of each operand. */
  private final int[] slots;

  /** The innermost axis of several tiles on which each operand depends, or -1. */
  private final int[] innermost;

  private final long[] tileBytes;

  private final UnpackedTiles unpacked;

  /**
   * @param places the places of operands in the home memory; in the working one for near operands
   * @param step the device and step, for messages
   */
  LoopRun(
      TiledKernel kernel, List<Long> places, LocalMemory working, LocalMemory home, String step) {
    this.kernel = kernel;
    this.places = places;
    this.working = working;
    this.home = home;
    this.step = step;
    int operands = kernel.operands().size();
    this.tile = new TileWalk(kernel);
    this.slots = new int[operands];
    this.innermost = new int[operands];
    this.tileBytes = new long[operands];
    this.unpacked = new UnpackedTiles(kernel);
    for (int i = 0; i < operands; i++) {
      innermost[i] = tile.innermost(kernel.operands().get(i));
    }
    for (KernelCall call : kernel.calls()) {
      calls.add(new TileCall(call, tile));
    }
  }

  /** Runs on cores that share their working memory. */
  void run() {
    if (!working.contains(0, kernel.workingBytes())) {
      throw fault(
          working.name(), "at most " + working.bytes().length + " B", kernel.workingBytes());
    }
    working.forget(0, Math.toIntExact(kernel.workingBytes()));
    for (int i = 0; i < slots.length; i++) {
      if (kernel.operands().get(i).direction() == Direction.SCALAR) {
        tile.setScalar(i, readScalar(i));
      }
    }
    tile.begin();
    Arrays.fill(slots, 0);
    // At first, all tiles change.
    int changed = -1;
    boolean isEnd = false;
    while (!isEnd) {
      enter(changed);
      for (TileCall call : calls) {
        if (call.call().runsIn(tile)) {
          run(call);
        }
      }
      changed = tile.nextChanged();
      isEnd = changed < 0;
      for (int i = 0; i < slots.length; i++) {
        TileOperand operand = kernel.operands().get(i);
        if (operand.direction() == Direction.STORE && (isEnd || changed <= innermost[i])) {
          store(i);
        }
      }
      if (!isEnd) {
        tile.advance(changed);
      }
    }
  }

  /** Runs on cores with private working memories. */
  void run(CoreGrid cores) {
    for (int core = 0; core < cores.cores(); core++) {
      if (tile.take(cores, core)) {
        run();
      }
    }
  }

  private void enter(int changed) {
    boolean begins = false;
    for (int i = 0; i < slots.length; i++) {
      TileOperand operand = kernel.operands().get(i);
      if (operand.direction() == Direction.SCALAR || changed >= 0 && changed > innermost[i]) {
        continue;
      }
      if (changed >= 0 && operand.isMoved()) {
        slots[i] = (slots[i] + 1) % operand.slots();
      }
      List<Long> sizes = sizes(operand);
      tileBytes[i] = tileBytes(i, sizes);
      if (operand.isNear() && operand.direction() == Direction.LOAD) {
        requireNear(i);
        continue;
      }
      if (operand.isMoved()) {
        working.forget(tilePlace(i), Math.toIntExact(operand.slotBytes()));
      } else if (!overwrites(i)) {
        working.forget(tilePlace(i), Math.toIntExact(tileBytes[i]));
      }
      long elements = sizes.stream().reduce(1L, Math::multiplyExact);
      unpacked.begin(i, elements, sizes.isEmpty() ? 1 : sizes.getLast());
      if (operand.direction() == Direction.LOAD) {
        load(i);
      } else {
        begins = true;
      }
    }
    if (begins) {
      for (TileScratch scratch : kernel.scratch()) {
        working.forget((int) scratch.offset(), (int) scratch.bytes());
      }
    }
  }

  private int tilePlace(int operand) {
    TileOperand one = kernel.operands().get(operand);
    return one.isNear()
        ? Math.toIntExact(place(operand))
        : Math.toIntExact(one.offset() + slots[operand] * one.slotBytes());
  }

  /** Whether a near result is in the place of a near operand. */
  private boolean overwrites(int result) {
    for (int i = 0; i < slots.length; i++) {
      TileOperand other = kernel.operands().get(i);
      if (other.isNear()
          && other.direction() == Direction.LOAD
          && places.get(i).equals(places.get(result))) {
        return true;
      }
    }
    return false;
  }

  private void requireNear(int operand) {
    String name = kernel.operands().get(operand).name();
    int missing = working.unwritten(tilePlace(operand), (int) tileBytes[operand]);
    if (missing >= 0) {
      throw memoryFault(
          name,
          "bytes of " + working.name() + " that are initialised",
          "byte " + missing + " that isn't initialised");
    }
  }

  /** Returns the extents of the tile of an operand. */
  private List<Long> sizes(TileOperand one) {
    List<Long> sizes = new ArrayList<>();
    for (BoxDimension dimension : one.box()) {
      long start = dimension.start().at(tile);
      long size = dimension.size().at(tile);
      if (start < 0 || size < one.leastSize() || start + size > dimension.extent()) {
        throw fault(
            one.name(), "a part of " + dimension.extent() + " indices", size + " from " + start);
      }
      sizes.add(size);
    }
    return sizes;
  }

  private long tileBytes(int operand, List<Long> sizes) {
    TileOperand one = kernel.operands().get(operand);
    long bytes = one.packing().bytes(one.element(), sizes);
    boolean fits = one.isNear() || bytes <= one.slotBytes();
    if (!fits || !working.contains(tilePlace(operand), bytes)) {
      throw fault(one.name(), "at most " + one.slotBytes() + " B in " + working.name(), bytes);
    }
    if (one.isNear()
        && (!BoxDimension.isLine(one.box(), tile) || place(operand) < kernel.workingBytes())) {
      throw fault(
          one.name(),
          "adjacent elements behind the first " + kernel.workingBytes() + " B",
          one.box());
    }
    return bytes;
  }

  /** Returns the address of the first element of the tile of an operand. */
  private long place(int operand) {
    TileOperand one = kernel.operands().get(operand);
    long elements = 0;
    for (BoxDimension dimension : one.box()) {
      elements += dimension.start().at(tile) * dimension.stride();
    }
    return places.get(operand) + one.bytes(elements);
  }

  private long readScalar(int operand) {
    TileOperand one = kernel.operands().get(operand);
    long from = place(operand);
    int bytes = (int) one.bytes(1);
    requireRead(one.name(), from, bytes);
    Place place = new Place(home.bytes(), (int) from);
    return one.element() == ElementType.I64 ? (int) place.longAt(0) : place.intAt(0);
  }

  private void load(int operand) {
    TileOperand one = kernel.operands().get(operand);
    int[] to = {tilePlace(operand)};
    BoxLines.each(
        one,
        tile,
        place(operand),
        (from, count) -> {
          requireRead(one.name(), from, count);
          System.arraycopy(home.bytes(), (int) from, working.bytes(), to[0], count);
          to[0] += count;
        });
    working.write(tilePlace(operand), (int) tileBytes[operand]);
    unpacked.unpack(operand, new Place(working.bytes(), tilePlace(operand)));
  }

  private void store(int operand) {
    TileOperand one = kernel.operands().get(operand);
    int[] from = {tilePlace(operand)};
    int missing = working.unwritten(from[0], (int) tileBytes[operand]);
    if (missing >= 0) {
      throw fault(
          one.name(),
          "a tile that kernels write",
          "byte " + (missing - from[0]) + " that no kernel writes");
    }
    if (one.isNear()) {
      return;
    }
    unpacked.pack(operand, new Place(working.bytes(), tilePlace(operand)));
    BoxLines.each(
        one,
        tile,
        place(operand),
        (to, count) -> {
          requireWritable(one.name(), to, count);
          System.arraycopy(working.bytes(), from[0], home.bytes(), (int) to, count);
          home.write((int) to, count);
          from[0] += count;
        });
  }

  private void requireRead(String name, long from, int count) {
    if (!home.contains(from, count)) {
      throw fault(
          name,
          "bytes below " + home.bytes().length + " of " + home.name(),
          count + " from " + from);
    }
    int missing = home.unwritten((int) from, count);
    if (missing >= 0) {
      throw memoryFault(
          name,
          "bytes of " + home.name() + " that are initialised",
          "byte " + missing + " that isn't initialised");
    }
  }

  private void requireWritable(String name, long to, int count) {
    if (!home.contains(to, count)) {
      throw fault(
          name, "bytes below " + home.bytes().length + " of " + home.name(), count + " from " + to);
    }
    int held = home.held((int) to, count);
    if (held >= 0) {
      throw memoryFault(
          name,
          "bytes of " + home.name() + " that may be written",
          "byte " + held + " of a constant or a transfer");
    }
  }

  private void run(TileCall call) {
    for (KernelStruct.Precondition each : call.call().kernel().struct().preconditions()) {
      if (!each.test().test(call)) {
        throw fault(call.call().function(), each.text(), call.call().arguments());
      }
    }
    List<KernelAccess> accesses = Accesses.of(call.call().kernel(), call);
    for (KernelAccess access : accesses) {
      verify(call, access);
    }
    call.run(this::place);
    for (KernelAccess access : accesses) {
      if (access.kind() == Kind.WRITE) {
        call.pointer(access.pointer())
            .ifPresent(
                pointer -> {
                  int bytes = unpacked.storedBytes(pointer, access);
                  long at = target(pointer) + offset(pointer);
                  access.stretches(
                      0,
                      (from, to) ->
                          working.write((int) (at + from * bytes), (int) (to - from) * bytes));
                });
      }
    }
  }

  private Place place(Value pointer) {
    if (pointer instanceof Value.OperandPointer(var operand, var offset) && unpacked.has(operand)) {
      return unpacked.place(operand, offset.at(tile));
    }
    return new Place(working.bytes(), Math.toIntExact(target(pointer) + offset(pointer)));
  }

  /** Returns the address in the working memory of the tile or scratch of a pointer. */
  private long target(Value pointer) {
    return switch (pointer) {
      case Value.OperandPointer(var operand, var offset) -> tilePlace(operand);
      case Value.ScratchPointer(var scratch, var offset) -> kernel.scratch().get(scratch).offset();
      case Value other -> throw new IllegalArgumentException("no pointer: " + other);
    };
  }

  /** Returns the offset of a pointer in bytes. */
  private long offset(Value pointer) {
    return switch (pointer) {
      case Value.OperandPointer(var operand, var offset) ->
          kernel.operands().get(operand).bytes(offset.at(tile));
      case Value.ScratchPointer(var scratch, var offset) -> offset.at(tile);
      case Value other -> throw new IllegalArgumentException("no pointer: " + other);
    };
  }

  private long targetBytes(Value pointer) {
    return switch (pointer) {
      case Value.OperandPointer(var operand, var offset) -> tileBytes[operand];
      case Value.ScratchPointer(var scratch, var offset) -> kernel.scratch().get(scratch).bytes();
      case Value other -> throw new IllegalArgumentException("no pointer: " + other);
    };
  }

  /**
   * Checks that a kernel stays inside the target of a pointer, and reads only bytes with a value.
   */
  private void verify(TileCall call, KernelAccess access) {
    Value pointer = call.pointer(access.pointer()).orElse(null);
    if (access.elements() == 0 || pointer == null && access.isOptional()) {
      return;
    }
    String name = call.call().function() + ", " + access.pointer();
    if (pointer == null) {
      throw fault(name, "a pointer", "none");
    }
    if (unpacked.areBlocks(pointer)) {
      verifyBlocks(name, (Value.OperandPointer) pointer, access);
      return;
    }
    long bytes = unpacked.storedBytes(pointer, access);
    long offset = offset(pointer);
    long first = offset + access.first() * bytes;
    long end = offset + (access.last() + 1) * bytes;
    if (first < 0 || end > targetBytes(pointer)) {
      throw fault(
          name, "bytes from 0 to " + targetBytes(pointer), "bytes from " + first + " to " + end);
    }
    if (access.kind() == Kind.READ) {
      long place = target(pointer) + offset;
      access.stretches(
          0,
          (from, to) -> {
            int at = (int) (place + from * bytes);
            int missing = working.unwritten(at, (int) ((to - from) * bytes));
            if (missing >= 0) {
              throw fault(
                  name,
                  "elements that were loaded or written",
                  "byte " + (missing - target(pointer)) + " that wasn't");
            }
          });
    }
  }

  private void verifyBlocks(String name, Value.OperandPointer pointer, KernelAccess access) {
    long offset = pointer.offset().at(tile);
    long elements = unpacked.elements(pointer.operand());
    long first = offset + access.first();
    long last = offset + access.last();
    if (access.kind() == Kind.WRITE || first < 0 || last >= elements) {
      throw fault(
          name,
          "elements from 0 to " + (elements - 1) + ", which are read",
          "elements from " + first + " to " + last);
    }
  }

  private String where(String part) {
    return "%s, loop %s, %s at tile %s".formatted(step, kernel.name(), part, tile);
  }

  private PartitaException fault(String part, Object expected, Object found) {
    return ScheduleFault.CALL.at(where(part), expected, found);
  }

  private PartitaException memoryFault(String part, Object expected, Object found) {
    return ScheduleFault.MEMORY.at(where(part), expected, found);
  }
}
