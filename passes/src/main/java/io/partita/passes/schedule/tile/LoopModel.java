package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The time of a loop as a function of its tiles.
 *
 * <p>A step from one tile to the next advances an axis {@code a} and restarts the axes within it.
 * There are {@code (count of a - 1) × counts of the axes around it} steps of this kind, and each
 * moves the operands that depend on {@code a} or an axis within it. With two slots this takes
 * {@code max(compute, loads, stores)} and the starts of loads; operands with one slot are added.
 * Computing includes the work of the control core between two tiles. All loads precede the first
 * tile, each overlapping with the starts of the next ones; the stores of the last tile follow it.
 * If there are no further tiles, large ones are only awaited by the first kernel that uses them
 * ({@link Stages}). A tile along an axis represents the mean of full tiles and the one at the edge.
 */
final class LoopModel {
  private final Part[] parts;
  private final List<CallUnit> calls;
  private final int axes;
  private final ChipKind chip;
  private final Optional<DmaChannel> load;
  private final Optional<DmaChannel> store;
  private final boolean isOneChannel;
  private final double busyFactor;
  private final long[] partAxes;
  private final long[] callAxes;

  /** The first of the calls that uses a part. */
  private final int[] firstCalls;

  private final double coldCycles;
  private final long stores;
  private final List<Map<List<Long>, Double>> known = new ArrayList<>();
  private final List<PerTiles<Transfer>> transfers = new ArrayList<>();
  private final List<PerTiles<Double>> calculations = new ArrayList<>();

  /**
   * An operand of a loop.
   *
   * @param cores the cores for which one loads a tile
   */
  record Part(
      ElementType element,
      Packing packing,
      Direction direction,
      List<BoxDimension> box,
      boolean isNear,
      long cores) {
    boolean is(Direction other) {
      return direction == other && !isNear;
    }
  }

  /** Means over all tiles of an operand. */
  private record Transfer(double cycles, double bytes) {
    static final Transfer NONE = new Transfer(0, 0);
  }

  /** Figures of tilings with the same extents. */
  LoopModel(List<Part> parts, List<KernelCall> calls, int axes, ChipKind chip) {
    this.parts = parts.toArray(Part[]::new);
    this.calls = CallUnit.of(calls, chip);
    this.axes = axes;
    this.chip = chip;
    String near = chip.working().name();
    String far = chip.home().orElse(chip.working()).name();
    load = chip.channel(far, near);
    store = chip.channel(near, far);
    isOneChannel = load.equals(store);
    busyFactor = load.map(DmaChannel::busyFactor).orElse(1.0);
    stores = parts.stream().filter(each -> each.is(Direction.STORE)).count();
    partAxes = new long[parts.size()];
    for (int i = 0; i < partAxes.length; i++) {
      for (BoxDimension dimension :
          parts.get(i).isNear() ? List.<BoxDimension>of() : parts.get(i).box()) {
        partAxes[i] |= axes(dimension.start()) | axes(dimension.size());
      }
      transfers.add(new PerTiles<>(partAxes[i]));
    }
    firstCalls = new int[parts.size()];
    for (int i = 0; i < firstCalls.length; i++) {
      firstCalls[i] = unit(Stages.firstCall(calls, i));
    }
    callAxes = new long[this.calls.size()];
    double cold = 0;
    for (int i = 0; i < callAxes.length; i++) {
      CallUnit unit = this.calls.get(i);
      for (TileExpression each : unit.work()) {
        callAxes[i] |= axes(each);
      }
      callAxes[i] |= mask(unit.onFirst()) | mask(unit.onLast());
      known.add(new HashMap<>());
      calculations.add(new PerTiles<>(callAxes[i]));
      boolean isKnown =
          unit.run().isEmpty()
              && this.calls.subList(0, i).stream()
                  .anyMatch(each -> each.run().isEmpty() && each.kernel().equals(unit.kernel()));
      cold += isKnown ? 0 : unit.coldCycles(chip);
    }
    coldCycles = cold;
  }

  /** Returns the number of the unit that a call belongs to. */
  private int unit(int call) {
    int unit = 0;
    while (unit + 1 < calls.size() && calls.get(unit + 1).first() <= call) {
      unit++;
    }
    return unit;
  }

  private static long mask(List<Integer> axes) {
    return axes.stream().mapToLong(axis -> 1L << axis).reduce(0, (all, axis) -> all | axis);
  }

  private long axes(TileExpression expression) {
    return PerTiles.axes(expression, axes);
  }

  /** Returns the operands whose tiles change along any tiled axis, as bits. */
  long changing(TileFigures figures) {
    long mask = 0;
    for (int axis = 0; axis < axes; axis++) {
      mask |= figures.counts()[axis] > 1 ? 1L << axis : 0;
    }
    long changing = 0;
    for (int part = 0; part < partAxes.length; part++) {
      changing |= (partAxes[part] & mask) != 0 ? 1L << part : 0;
    }
    return changing;
  }

  private int innermost(int part, int[] order, long[] counts) {
    for (int place = order.length - 1; place >= 0; place--) {
      int axis = order[place];
      if ((partAxes[part] >> axis & 1) == 1 && counts[axis] > 1) {
        return place;
      }
    }
    return -1;
  }

  /** Computes the figures, which are independent of the order and the slots of the tiling. */
  TileFigures figures(Tiling tiling) {
    long[] counts = new long[axes];
    Arrays.setAll(counts, tiling::count);
    double[] moveCycles = new double[parts.length];
    double[] moveBytes = new double[parts.length];
    for (int i = 0; i < moveCycles.length; i++) {
      int part = i;
      Transfer mean = transfers.get(i).get(tiling, each -> transfer(part, each));
      moveCycles[i] = mean.cycles;
      moveBytes[i] = mean.bytes;
    }
    double[] callCycles = new double[calls.size()];
    double between = 0;
    for (int i = 0; i < callCycles.length; i++) {
      int call = i;
      callCycles[i] = calculations.get(i).get(tiling, each -> cycles(call, each));
      between += chip.tileCycles() * share(calls.get(i), tiling);
    }
    return new TileFigures(counts, moveCycles, moveBytes, callCycles, between);
  }

  private Transfer transfer(int i, Tiling tiling) {
    Part part = parts[i];
    Optional<DmaChannel> channel =
        switch (part.direction()) {
          case LOAD -> load;
          case STORE -> store;
          case SCALAR -> Optional.empty();
        };
    if (channel.isEmpty() || part.isNear()) {
      return Transfer.NONE;
    }
    // Each core has an equal share of the rate: those that share a tile load it with all of theirs.
    DmaChannel by = channel.get().withRate(part.cores());
    double[] sums = new double[2];
    Mean mean = new Mean(partAxes[i], 0, 0, tiling);
    List<BoxDimension> box = part.box().stream().map(BoxDimension::whenLoaded).toList();
    double share = loadedShare(part, tiling);
    mean.add(
        at -> {
          BoxTransfer transfer = BoxTransfer.of(part.element(), part.packing(), box, at);
          sums[0] += share * mean.share * transfer.cycles(by);
          sums[1] += share * mean.share * transfer.bytes();
        });
    return new Transfer(sums[0], sums[1]);
  }

  /** Returns the share of tiles in which a part isn't empty. */
  private double loadedShare(Part part, Tiling tiling) {
    double share = 1;
    for (BoxDimension dimension : part.box()) {
      for (TileExpression condition : dimension.conditions()) {
        for (int axis = 0; axis < axes; axis++) {
          share /= condition.dependsOn(axis) ? tiling.count(axis) : 1;
        }
      }
    }
    return share;
  }

  LoopTime time(Tiling tiling) {
    return time(tiling.order(), tiling.slots(), figures(tiling));
  }

  LoopTime time(int[] order, int[] slots, TileFigures figures) {
    Loads loads = new Loads(order, slots, figures);
    double compute = 0;
    for (double call : figures.callCycles()) {
      compute += call;
    }
    double cycles = chip.loopCycles() + (calls.size() - 1) * chip.callCycles();
    cycles += loads.computed(figures) + loads.ended();
    double around = 1;
    double loadCycles = loads.first;
    double storeCycles = loads.last;
    double loaded = loads.firstBytes;
    double stored = loads.lastBytes;
    double waiting = 0;
    for (int place = 0; place < axes; place++) {
      long count = figures.counts()[order[place]];
      double steps = around * (count - 1);
      if (steps > 0) {
        loads.step(place);
        double own = compute + figures.betweenCycles() + loads.moved * chip.moveCycles();
        cycles += steps * (loads.together(own) + loads.waited);
        loadCycles += steps * loads.allLoads;
        storeCycles += steps * loads.allStores;
        loaded += steps * loads.loadBytes;
        stored += steps * loads.storeBytes;
        waiting += loads.isLonger(own) ? steps : -steps;
      }
      around *= count;
    }
    return new LoopTime(
        cycles,
        coldCycles,
        around * compute,
        loadCycles,
        storeCycles,
        Math.round(loaded),
        Math.round(stored),
        waiting > 0);
  }

  /** Returns the cycles of transfers in one step. */
  private final class Loads {
    private final int[] inner = new int[parts.length];
    private final double[] cycles;
    private final double[] bytes;
    private final int[] slots;
    private double first;
    private double last;
    private double firstBytes;
    private double lastBytes;
    private double doubleLoads;
    private double doubleStores;
    private double allLoads;
    private double allStores;
    private double loadBytes;
    private double storeBytes;
    private double waited;
    private int moved;
    private int started;

    Loads(int[] order, int[] slots, TileFigures figures) {
      this.slots = slots;
      cycles = figures.moveCycles();
      bytes = figures.moveBytes();
      for (int i = 0; i < inner.length; i++) {
        inner[i] = innermost(i, order, figures.counts());
        switch (parts[i].direction()) {
          case LOAD -> {
            first += cycles[i];
            firstBytes += bytes[i];
          }
          case STORE -> {
            last += cycles[i];
            lastBytes += bytes[i];
          }
          case SCALAR -> inner[i] = -1;
        }
      }
    }

    /**
     * Returns the cycles from the start of the first load to the end of the first tile's kernels.
     */
    double computed(TileFigures figures) {
      double[] calls = figures.callCycles();
      boolean isOneTile = Arrays.stream(figures.counts()).allMatch(count -> count == 1);
      double[] awaited = new double[Math.max(1, calls.length)];
      double control = 0;
      double moving = 0;
      for (int i = 0; i < parts.length; i++) {
        if (parts[i].is(Direction.LOAD)) {
          control += chip.operandCycles();
          moving = Math.max(moving, control) + cycles[i];
          int first = isOneTile && Stages.isLong(bytes[i]) ? firstCalls[i] : 0;
          awaited[first] = Math.max(awaited[first], moving);
        }
      }
      double end = Math.max(control, awaited[0]);
      for (int call = 0; call < calls.length; call++) {
        end = Math.max(end, awaited[call]) + calls[call];
      }
      return end;
    }

    /** Returns the cycles of the stores of the last tile. */
    double ended() {
      return stores * chip.operandCycles() + last;
    }

    /** Sets the sums to those of a step along an axis. */
    void step(int place) {
      doubleLoads = doubleStores = allLoads = allStores = loadBytes = storeBytes = waited = 0;
      moved = started = 0;
      for (int i = 0; i < parts.length; i++) {
        if (inner[i] < place) {
          continue;
        }
        moved++;
        boolean isDouble = slots[i] == 2;
        waited += isDouble ? 0 : cycles[i];
        if (parts[i].direction() == Direction.LOAD) {
          allLoads += cycles[i];
          loadBytes += bytes[i];
          doubleLoads += isDouble ? cycles[i] * busyFactor : 0;
          started += isDouble ? 1 : 0;
        } else {
          allStores += cycles[i];
          storeBytes += bytes[i];
          doubleStores += isDouble ? cycles[i] : 0;
        }
      }
    }

    /**
     * Returns the cycles of a step whose loads overlap with computing. The control core starts them
     * while cores compute, and then the DMA waits for it; or, if they take longer, before it awaits
     * the ones before, and then the cores wait.
     */
    double together(double own) {
      double starts = started * chip.operandCycles();
      return isLonger(own)
          ? Math.max(own + starts, overlapped(doubleLoads))
          : Math.max(own, overlapped(doubleLoads + starts));
    }

    boolean isLonger(double own) {
      return doubleLoads > own;
    }

    /** Returns the cycles of both directions, which are serialised on a common channel. */
    private double overlapped(double loads) {
      return isOneChannel ? loads + doubleStores : Math.max(loads, doubleStores);
    }
  }

  private double cycles(int i, Tiling tiling) {
    CallUnit call = calls.get(i);
    Mean mean = new Mean(callAxes[i], mask(call.onFirst()), mask(call.onLast()), tiling);
    double[] cycles = {0};
    mean.add(
        at -> {
          List<Long> counts =
              List.of(
                  call.work().get(0).at(at),
                  call.work().get(1).at(at),
                  call.work().get(2).at(at),
                  call.work().get(3).at(at));
          cycles[0] +=
              mean.share * known.get(i).computeIfAbsent(counts, key -> call.cycles(key, chip));
        });
    return share(call, tiling) * cycles[0];
  }

  /** Returns the share of tiles in which a call runs. */
  private static double share(CallUnit call, Tiling tiling) {
    double share = 1;
    for (int axis : call.onFirst()) {
      share /= tiling.count(axis);
    }
    for (int axis : call.onLast()) {
      share /= tiling.count(axis);
    }
    return share;
  }

  /**
   * Enumerates full tiles and edge tiles along some axes, and the first or the last one only along
   * others.
   */
  private final class Mean {
    private final Tiling tiling;
    private final TilePosition at;
    private long edges;

    /** Returns the share of tiles that are like the current one. */
    private double share = 1;

    Mean(long along, long onFirst, long onLast, Tiling tiling) {
      this.tiling = tiling;
      at = new TilePosition(tiling);
      at.toMiddle();
      for (int axis = 0; axis < axes; axis++) {
        if ((onLast >> axis & 1) == 1) {
          at.toLast(axis);
        } else if ((onFirst >> axis & 1) == 1) {
          at.move(axis, 0);
        } else if ((along >> axis & 1) == 1 && tiling.edge(axis) != tiling.tiles()[axis]) {
          edges |= 1L << axis;
        }
      }
    }

    void add(Consumer<TilePosition> tile) {
      add(0, tile);
    }

    private void add(int axis, Consumer<TilePosition> tile) {
      if (edges >> axis == 0) {
        tile.accept(at);
      } else if ((edges >> axis & 1) == 0) {
        add(axis + 1, tile);
      } else {
        double whole = share;
        double count = tiling.count(axis);
        at.move(axis, (tiling.count(axis) - 2) / 2);
        share = whole * (count - 1) / count;
        add(axis + 1, tile);
        at.toLast(axis);
        share = whole / count;
        add(axis + 1, tile);
        share = whole;
      }
    }
  }
}
