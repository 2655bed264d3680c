package io.partita.ir.schedule;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.kernel.Accesses;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.CallFields;
import io.partita.ir.schedule.kernel.KernelAccess;
import io.partita.ir.schedule.kernel.KernelAccess.Kind;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Simulates the kernels of a loop on elements of the working memory, and checks that they stay
 * inside their tiles, read only elements that were loaded or written for the same results, read all
 * loaded elements, and have written results completely when they are stored.
 *
 * <p>If nothing depends on the position along an axis, the first, the last and one middle tile
 * represent all. All are visited if each has its own part of scratch memory.
 */
final class CallVerifier {
  /**
   * The number of tiles at the beginning, in the middle and at the end of an axis that are visited.
   */
  private static final long MAX = 16;

  private final TiledKernel kernel;
  private final long scalar;
  private final List<Content> operands;
  private final List<Content> scratch;

  /** The content of a tile or of scratch memory. */
  private static final class Content {
    /** The numbers of its tile along the axes on which it depends. */
    private List<Long> tile = List.of();

    /** The elements of its tile; negative before the first one. */
    private long elements = -1;

    /** The bits of an element; 0 while unknown. */
    private int bits;

    private final BitSet written = new BitSet();
    private final BitSet read = new BitSet();
  }

  private CallVerifier(TiledKernel kernel, long scalar) {
    this.kernel = kernel;
    this.scalar = scalar;
    this.operands = kernel.operands().stream().map(operand -> new Content()).toList();
    this.scratch = kernel.scratch().stream().map(memory -> new Content()).toList();
  }

  /**
   * @param scalars the values to try for integers that the loop reads at run time
   */
  static void verify(TiledKernel kernel, List<Long> scalars) {
    for (long scalar : scalars) {
      new CallVerifier(kernel, scalar).run();
    }
  }

  private void run() {
    long[] counts = counts();
    TileWalk last = null;
    for (TileWalk tile = walk(counts, visited(counts)); tile.isValid(); tile.next()) {
      enter(tile);
      for (KernelCall call : kernel.calls()) {
        if (call.runsIn(tile)) {
          play(call, tile);
        }
      }
      last = tile;
    }
    for (int i = 0; i < operands.size(); i++) {
      leave(i, last);
    }
    clearScratch(last);
  }

  private TileWalk walk(long[] counts, long[][] visited) {
    return new TileWalk(kernel.axes(), counts, visited, scalar);
  }

  /** Returns the number of tiles that run along each axis, at least one. */
  private long[] counts() {
    long[] all = kernel.axes().stream().mapToLong(TileAxis::count).toArray();
    TileWalk first = walk(all, new long[all.length][1]);
    return kernel.axes().stream()
        .mapToLong(
            axis -> {
              long limit = axis.limit().map(each -> each.at(first)).orElse(axis.extent());
              return Math.ceilDiv(Math.clamp(limit, 1, axis.extent()), axis.tile());
            })
        .toArray();
  }

  private long[][] visited(long[] counts) {
    Set<TileExpression> used = used(counts);
    long[][] visited = new long[counts.length][];
    for (int axis = 0; axis < counts.length; axis++) {
      int own = axis;
      boolean isPlaced = used.stream().anyMatch(expression -> readsStart(expression, own));
      visited[axis] =
          isCollected(own)
              ? LongStream.range(0, counts[axis]).toArray()
              : isPlaced ? all(counts[axis]) : typical(counts[axis]);
    }
    return visited;
  }

  /** Whether each tile along an axis has its own part of scratch memory. */
  private boolean isCollected(int axis) {
    return kernel.calls().stream()
        .flatMap(call -> call.arguments().stream())
        .flatMap(Argument::pointers)
        .anyMatch(
            pointer ->
                pointer instanceof Value.ScratchPointer(var scratch, var offset)
                    && readsStart(offset, axis));
  }

  private static long[] typical(long count) {
    return new TreeSet<>(List.of(0L, count / 2, count - 1))
        .stream().mapToLong(Long::longValue).toArray();
  }

  private static long[] all(long count) {
    long middle = (count - MAX) / 2;
    return LongStream.range(0, count)
        .filter(i -> i < MAX || i >= count - MAX || i >= middle && i < middle + MAX)
        .toArray();
  }

  private static boolean readsStart(TileExpression expression, int axis) {
    TileExpression places =
        expression.replacing(
            leaf -> leaf instanceof TileExpression.Start ? leaf : TileExpression.of(1));
    return places.dependsOn(axis);
  }

  /** Returns the expressions that determine accesses in the first or the last tile. */
  private Set<TileExpression> used(long[] counts) {
    Set<TileExpression> used = new LinkedHashSet<>();
    kernel.operands().stream()
        .flatMap(operand -> operand.box().stream())
        .forEach(dimension -> used.add(dimension.size()));
    long[][] ends = new long[counts.length][];
    for (int axis = 0; axis < counts.length; axis++) {
      ends[axis] = counts[axis] == 1 ? new long[1] : new long[] {0, counts[axis] - 1};
    }
    for (TileWalk tile = walk(counts, ends); tile.isValid(); tile.next()) {
      for (KernelCall call : kernel.calls()) {
        CallFields fields = new CallFields(call, tile);
        Accesses.of(call.kernel(), fields).forEach(access -> fields.pointer(access.pointer()));
        used.addAll(fields.used());
      }
    }
    return used;
  }

  /** Enters tiles that change: operands are loaded, and results and scratch begin anew. */
  private void enter(TileWalk tile) {
    boolean begins = false;
    for (int i = 0; i < operands.size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      Content content = operands.get(i);
      List<Long> own =
          IntStream.range(0, kernel.axes().size())
              .filter(operand::dependsOn)
              .mapToObj(tile::index)
              .toList();
      boolean isFirst = content.elements < 0;
      if (isFirst || !own.equals(content.tile)) {
        if (!isFirst) {
          leave(i, tile);
        }
        begins |= operand.direction() == Direction.STORE;
        content.tile = own;
        content.elements =
            operand.box().stream()
                .mapToLong(dimension -> dimension.size().at(tile))
                .reduce(1, Math::multiplyExact);
        content.read.clear();
        content.written.clear();
        if (operand.direction() == Direction.LOAD) {
          content.written.set(0, (int) content.elements);
        }
      }
    }
    if (begins) {
      clearScratch(tile);
    }
  }

  /** Checks that kernels have read everything that was kept for results that are now complete. */
  private void clearScratch(TileWalk tile) {
    for (int i = 0; i < scratch.size(); i++) {
      Content content = scratch.get(i);
      content.written.andNot(content.read);
      if (!content.written.isEmpty()) {
        throw fault(
            kernel.scratch().get(i).name() + " before",
            tile,
            "elements that kernels read",
            content.written.cardinality() + " that no kernel reads");
      }
      content.written.clear();
      content.read.clear();
    }
  }

  private void leave(int index, TileWalk tile) {
    TileOperand operand = kernel.operands().get(index);
    Content content = operands.get(index);
    switch (operand.direction()) {
      case STORE -> {
        int missing = content.written.nextClearBit(0);
        if (missing < content.elements) {
          throw fault(
              operand.name() + " before",
              tile,
              content.elements + " elements that kernels write",
              "element " + missing + " that no kernel does");
        }
      }
      case LOAD -> {
        int unread = content.read.nextClearBit(0);
        if (unread < content.elements) {
          throw fault(
              operand.name() + " before",
              tile,
              content.elements + " elements that kernels read",
              "element " + unread + " that no kernel does");
        }
      }
      case SCALAR -> {}
    }
  }

  private void play(KernelCall call, TileWalk tile) {
    CallFields fields = new CallFields(call, tile);
    for (KernelStruct.Precondition each : call.kernel().struct().preconditions()) {
      if (!each.test().test(fields)) {
        throw fault(call.function(), tile, each.text(), call.arguments());
      }
    }
    List<KernelAccess> accesses = Accesses.of(call.kernel(), fields);
    boolean isPartial = fields.used().stream().anyMatch(TileExpression::readsScalar);
    for (Kind kind : List.of(Kind.READ, Kind.READ_SOME, Kind.WRITE, Kind.WORK)) {
      for (KernelAccess access : accesses) {
        if (access.kind() == kind) {
          play(call, access, fields, tile, isPartial || kind == Kind.READ_SOME);
        }
      }
    }
  }

  private void play(
      KernelCall call, KernelAccess access, CallFields fields, TileWalk tile, boolean isPartial) {
    Optional<Value> pointer = fields.pointer(access.pointer());
    if (pointer.isPresent()) {
      play(call, access, target(call, access, fields, pointer.get(), tile), tile, isPartial);
    } else if (!access.isOptional() && access.elements() > 0) {
      throw fault(call, access, tile, "a pointer", "none");
    }
  }

  /** Returns the elements of a pointer, which is at {@code offset} in them. */
  private record Target(Content content, long elements, long offset) {}

  private Target target(
      KernelCall call, KernelAccess access, CallFields fields, Value pointer, TileWalk tile) {
    return switch (pointer) {
      case Value.OperandPointer(var index, var offset) -> {
        TileOperand operand = kernel.operands().get(index);
        boolean mayBeTouched =
            switch (operand.direction()) {
              case LOAD -> access.kind() == Kind.READ || access.kind() == Kind.READ_SOME;
              case STORE -> true;
              case SCALAR -> false;
            };
        if (!mayBeTouched) {
          throw fault(call, access, tile, "a tile that it may access", operand.direction());
        }
        Content content = operands.get(index);
        content.bits = kernel.isUnpacked(index) ? Float.SIZE : operand.element().bits();
        yield new Target(content, content.elements, fields.at(offset));
      }
      case Value.ScratchPointer(var index, var offset) -> {
        Content content = scratch.get(index);
        content.bits = content.bits == 0 ? access.bits() : content.bits;
        long bytes = content.bits / Byte.SIZE;
        long from = fields.at(offset);
        if (from % bytes != 0) {
          throw fault(call, access, tile, "an offset that is a multiple of the element size", from);
        }
        yield new Target(content, kernel.scratch().get(index).bytes() / bytes, from / bytes);
      }
      case Value other -> throw new IllegalArgumentException("no pointer: " + other);
    };
  }

  private void play(
      KernelCall call, KernelAccess access, Target target, TileWalk tile, boolean isPartial) {
    if (target.content.bits != access.bits()) {
      String bits = "elements of " + access.bits() + " bits";
      throw fault(call, access, tile, bits, target.content.bits);
    }
    long first = target.offset + access.first();
    long last = target.offset + access.last();
    if (access.elements() > 0 && (first < 0 || last >= target.elements)) {
      String inside = "elements from 0 to " + (target.elements - 1);
      throw fault(call, access, tile, inside, first + " to " + last);
    }
    BitSet touched = new BitSet();
    access.addTo(touched, target.offset);
    if (access.kind() == Kind.WRITE) {
      if (touched.cardinality() != access.elements()) {
        String once = access.elements() + " elements, each written once";
        throw fault(call, access, tile, once, touched.cardinality());
      }
      target.content.written.or(touched);
      target.content.read.andNot(touched);
      return;
    }
    if (access.kind() == Kind.WORK) {
      target.content.written.or(touched);
      target.content.read.or(touched);
      return;
    }
    target.content.read.or(touched);
    if (isPartial) {
      target.content.read.set(0, (int) target.elements);
    }
    touched.andNot(target.content.written);
    if (!touched.isEmpty()) {
      String unknown =
          touched.cardinality() + " that weren't, beginning at " + touched.nextSetBit(0);
      throw fault(call, access, tile, "elements that were loaded or written", unknown);
    }
  }

  private PartitaException fault(
      KernelCall call, KernelAccess access, TileWalk tile, Object expected, Object found) {
    return fault(call.function() + ", " + access.pointer(), tile, expected, found);
  }

  private PartitaException fault(String part, TileWalk tile, Object expected, Object found) {
    String where = "loop %s, %s at tile %s".formatted(kernel.name(), part, tile);
    return ScheduleFault.CALL.at(where, expected, found);
  }
}
