package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Verifies that the tiles of a loop are inside their tensors and the working memory, and that
 * results are complete.
 */
final class TileVerifier {
  private static final ScheduleFault FAULT = ScheduleFault.TILES;
  private static final String IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*";

  private final TiledKernel kernel;
  private final MemoryUse working;
  private final List<Long> scalars;

  private TileVerifier(TiledKernel kernel, MemoryUse working) {
    this.kernel = kernel;
    this.working = working;
    this.scalars = ScalarSamples.of(kernel);
  }

  static void verify(TiledKernel kernel, MemoryUse working) {
    new TileVerifier(kernel, working).run();
  }

  private String where(Object part) {
    return "loop " + kernel.name() + ", " + part;
  }

  private void run() {
    FAULT.require(
        kernel.name().matches(IDENTIFIER), where("name"), "a C identifier", kernel.name());
    Set<String> names = new HashSet<>();
    kernel.operands().forEach(each -> requireName(names, each.name()));
    kernel.scratch().forEach(each -> requireName(names, each.name()));
    workingMemory();
    kernel.operands().forEach(this::operand);
    kernel.calls().forEach(this::call);
    grid();
    StageVerifier.verify(kernel);
    CallVerifier.verify(kernel, scalars);
  }

  private void requireName(Set<String> names, String name) {
    boolean isGood = name.matches(IDENTIFIER) && names.add(name);
    FAULT.require(isGood, where(name), "a unique C identifier", name);
  }

  private record Place(String name, long start, long end) {}

  private void workingMemory() {
    List<Place> places = new ArrayList<>();
    for (TileOperand operand : kernel.operands()) {
      if (operand.isNear()) {
        FAULT.require(
            !working.isPrivate(),
            where(operand.name()),
            "a working memory that cores share",
            working.name());
      }
      if (operand.isMoved()) {
        FAULT.require(
            operand.buffer().stream().allMatch(each -> operand.slotBytes() % each.pageBytes() == 0),
            where(operand.name()),
            "slots of whole pages",
            operand.slotBytes());
        long end = operand.offset() + operand.slots() * operand.slotBytes();
        places.add(new Place(operand.name(), operand.offset(), end));
      }
    }
    for (TileScratch scratch : kernel.scratch()) {
      places.add(new Place(scratch.name(), scratch.offset(), scratch.offset() + scratch.bytes()));
    }
    FAULT.require(
        kernel.workingBytes() <= working.used(),
        where("working memory"),
        "at most " + working.used() + " B",
        kernel.workingBytes());
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      FAULT.require(
          place.start >= 0 && place.end <= kernel.workingBytes(),
          where(place.name),
          "bytes below " + kernel.workingBytes(),
          place);
      for (Place other : places.subList(0, i)) {
        FAULT.require(
            place.end <= other.start || other.end <= place.start,
            where(place.name),
            "bytes disjoint from " + other,
            place);
      }
    }
  }

  private void operand(TileOperand operand) {
    List<BoxDimension> box = operand.box();
    if (operand.direction() == Direction.SCALAR) {
      return;
    }
    FAULT.require(
        box.isEmpty() || box.getLast().extent() == 1 || box.getLast().stride() == 1,
        where(operand.name()),
        "contiguous elements",
        box);
    if (operand.packing() != Packing.PLAIN) {
      requireUnpacked(operand);
    }
    boolean isFixed = box.stream().noneMatch(TileVerifier::readsScalar);
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      if (operand.dependsOn(axis)) {
        axes.add(axis);
      }
    }
    requireInnermost(operand, axes);
    requireApart(operand);
    List<Box> boxes = new ArrayList<>();
    for (long scalar : isFixed ? List.of(0L) : scalars) {
      for (TileWalk tile = walk(axes, scalar); tile.isValid(); tile.next()) {
        boxes.add(box(operand, tile));
      }
    }
    if (operand.direction() == Direction.STORE && isFixed) {
      requireWhole(operand, boxes);
    }
  }

  /** Checks that the elements of a result have distinct addresses in the home memory. */
  private void requireApart(TileOperand operand) {
    if (operand.direction() == Direction.STORE) {
      long span = 1;
      for (BoxDimension dimension : sortedByStride(operand.box())) {
        FAULT.require(
            dimension.stride() >= span,
            where(operand.name()),
            "a stride of at least " + span,
            dimension.stride());
        span += (dimension.extent() - 1) * dimension.stride();
      }
    }
  }

  private static List<BoxDimension> sortedByStride(List<BoxDimension> box) {
    return box.stream()
        .filter(dimension -> dimension.extent() > 1)
        .sorted(Comparator.comparingLong(BoxDimension::stride))
        .toList();
  }

  /** Visits all tiles along some axes, and the first one along the others. */
  private TileWalk walk(List<Integer> along, long scalar) {
    List<TileAxis> axes = kernel.axes();
    long[] counts = axes.stream().mapToLong(TileAxis::count).toArray();
    long[][] visited = new long[counts.length][];
    for (int axis = 0; axis < counts.length; axis++) {
      visited[axis] = LongStream.range(0, along.contains(axis) ? counts[axis] : 1).toArray();
    }
    return new TileWalk(axes, counts, visited, scalar);
  }

  /** Checks that a result is stored after all axes on which it doesn't depend. */
  private void requireInnermost(TileOperand operand, List<Integer> axes) {
    if (operand.direction() == Direction.STORE && !axes.isEmpty()) {
      for (int axis = 0; axis < axes.getLast(); axis++) {
        FAULT.require(
            axes.contains(axis) || kernel.axes().get(axis).count() == 1,
            where(operand.name()),
            "axes on which it doesn't depend inside the others",
            kernel.axes().get(axis).name());
      }
    }
  }

  /** Checks that cores with private tiles write different results, and receive common operands. */
  private void grid() {
    List<CoreGrid.Axis> taken = new ArrayList<>();
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      if (kernel.axes().get(axis).over().isPresent()) {
        requireDealt(axis);
        CoreGrid.Axis over = kernel.axes().get(axis).over().get();
        boolean isFree = taken.stream().noneMatch(other -> meet(other, over));
        FAULT.require(isFree, where(over), "one axis over it", kernel.axes().get(axis).name());
        taken.add(over);
      }
    }
    for (TileOperand operand : kernel.operands()) {
      if (operand.multicast().isPresent()) {
        CoreGrid.Axis along = operand.multicast().get();
        boolean isSame = taken.stream().anyMatch(over -> meet(over, along));
        for (int axis = 0; axis < kernel.axes().size(); axis++) {
          TileAxis one = kernel.axes().get(axis);
          boolean moves = one.over().filter(over -> meet(over, along)).isPresent();
          isSame &= !moves || !operand.dependsOn(axis);
        }
        FAULT.require(
            isSame && operand.direction() == Direction.LOAD,
            where(operand.name()),
            "a common tile of all cores along " + along,
            operand.box());
      }
    }
  }

  private static boolean meet(CoreGrid.Axis one, CoreGrid.Axis other) {
    return one == other || one == CoreGrid.Axis.CORES || other == CoreGrid.Axis.CORES;
  }

  private void requireDealt(int axis) {
    TileAxis one = kernel.axes().get(axis);
    FAULT.require(
        working.isPrivate() && one.limit().isEmpty(),
        where(one.name()),
        "tiles dealt to cores with a private " + working.name() + ", and all tiles run",
        one);
    for (TileOperand operand : kernel.operands()) {
      FAULT.require(
          operand.direction() != Direction.STORE || one.count() == 1 || operand.dependsOn(axis),
          where(operand.name()),
          "a result that a single core writes",
          one.name());
    }
    FAULT.require(
        kernel.calls().stream().noneMatch(call -> call.isConditional(axis)),
        where(one.name()),
        "kernels in each tile of a core",
        one);
  }

  /** Packed elements are loaded for kernels that unpack them, in whole granules. */
  private void requireUnpacked(TileOperand operand) {
    FAULT.require(
        operand.direction() == Direction.LOAD
            && kernel.isUnpacked(kernel.operands().indexOf(operand)),
        where(operand.name()),
        "elements in " + operand.packing().text() + " only where kernels unpack them",
        operand.direction());
    int granule = operand.packing().granule();
    List<BoxDimension> rows = operand.box().subList(0, Math.max(0, operand.box().size() - 1));
    for (BoxDimension dimension : rows) {
      FAULT.require(
          dimension.extent() == 1 || dimension.stride() % granule == 0,
          where(operand.name()),
          "rows that begin with a block of " + granule + " elements",
          dimension);
    }
  }

  private static boolean readsScalar(BoxDimension dimension) {
    return dimension.start().readsScalar() || dimension.size().readsScalar();
  }

  private record Box(List<Long> starts, List<Long> ends) {
    List<Long> extents() {
      return IntStream.range(0, starts.size()).mapToObj(i -> ends.get(i) - starts.get(i)).toList();
    }

    long elements() {
      return extents().stream().reduce(1L, (product, extent) -> product * extent);
    }

    boolean meets(Box other) {
      for (int i = 0; i < starts.size(); i++) {
        if (starts.get(i) >= other.ends.get(i) || other.starts.get(i) >= ends.get(i)) {
          return false;
        }
      }
      return true;
    }
  }

  private Box box(TileOperand operand, TileWalk tile) {
    List<Long> starts = new ArrayList<>();
    List<Long> ends = new ArrayList<>();
    for (BoxDimension dimension : operand.box()) {
      long start = dimension.start().at(tile);
      long size = dimension.size().at(tile);
      FAULT.require(
          start >= 0 && size >= operand.leastSize() && start + size <= dimension.extent(),
          where(operand.name() + " at tile " + tile),
          "a part of " + dimension.extent() + " indices",
          size + " from " + start);
      starts.add(start);
      ends.add(start + size);
    }
    FAULT.require(
        starts.isEmpty() || starts.getLast() % operand.packing().granule() == 0,
        where(operand.name() + " at tile " + tile),
        "a part that begins with a block of " + operand.packing().granule() + " elements",
        starts);
    Box box = new Box(starts, ends);
    if (operand.isNear()) {
      FAULT.require(
          BoxDimension.isLine(operand.box(), tile),
          where(operand.name() + " at tile " + tile),
          "adjacent elements, which kernels use in the working memory",
          operand.box());
      return box;
    }
    long bytes = operand.packing().bytes(operand.element(), box.extents());
    FAULT.require(
        bytes <= operand.slotBytes(),
        where(operand.name() + " at tile " + tile),
        "at most " + operand.slotBytes() + " B",
        bytes + " B");
    return box;
  }

  private void requireWhole(TileOperand operand, List<Box> boxes) {
    long all = operand.box().stream().mapToLong(BoxDimension::extent).reduce(1, (a, b) -> a * b);
    long sum = boxes.stream().mapToLong(Box::elements).sum();
    FAULT.require(sum == all, where(operand.name()), all + " elements, each written once", sum);
    List<Box> sorted = new ArrayList<>(boxes);
    if (!operand.box().isEmpty()) {
      sorted.sort((left, right) -> Long.compare(left.starts.getFirst(), right.starts.getFirst()));
    }
    for (int i = 0; i < sorted.size(); i++) {
      Box box = sorted.get(i);
      for (int j = i + 1; j < sorted.size(); j++) {
        Box other = sorted.get(j);
        boolean isBehind = !box.starts.isEmpty() && other.starts.getFirst() >= box.ends.getFirst();
        if (isBehind) {
          break;
        }
        FAULT.require(
            !box.meets(other), where(operand.name()), "parts disjoint from " + box, other);
      }
    }
  }

  private void call(KernelCall call) {
    Stream.concat(call.onFirst().stream(), call.onLast().stream())
        .forEach(
            axis ->
                FAULT.require(
                    axis >= 0 && axis < kernel.axes().size(),
                    where(call.function()),
                    "one of " + kernel.axes().size() + " axes",
                    axis));
  }
}
