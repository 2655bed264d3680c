package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.KernelCall;
import io.partita.ir.schedule.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The time of a loop as a function of its tiles.
 *
 * <p>A step from one tile to the next is one of the axis {@code a} that isn't among those that
 * start over. There are {@code (count of a - 1) × counts of the axes around it} of these, and each
 * moves the operands that depend on {@code a} or an axis within it. With two slots that takes
 * {@code max(compute, loads, stores)}; what has one slot comes on top. Computing includes what the
 * control core does between two tiles. Before the first tile come all loads, each of which passes
 * while the control core starts the next ones; after the last come its stores. A tile along an axis
 * stands for the mean of full ones and the one at the edge.
 */
final class LoopModel {
  private final List<Part> parts;
  private final List<KernelCall> calls;
  private final int axes;
  private final ChipKind chip;
  private final Optional<DmaChannel> load;
  private final Optional<DmaChannel> store;
  private final long[] partAxes;
  private final long[] callAxes;
  private final double coldCycles;
  private final List<Map<List<Long>, Double>> known = new ArrayList<>();

  /** An operand of a loop. */
  record Part(ElementType element, Direction direction, List<BoxDimension> box) {}

  LoopModel(List<Part> parts, List<KernelCall> calls, int axes, ChipKind chip) {
    this.parts = parts;
    this.calls = calls;
    this.axes = axes;
    this.chip = chip;
    String near = chip.working().name();
    String far = chip.near().orElse(chip.working()).name();
    load = chip.channel(far, near);
    store = chip.channel(near, far);
    partAxes = new long[parts.size()];
    for (int i = 0; i < partAxes.length; i++) {
      for (BoxDimension dimension : parts.get(i).box()) {
        partAxes[i] |= axes(dimension.start()) | axes(dimension.size());
      }
    }
    callAxes = new long[calls.size()];
    double cold = 0;
    for (int i = 0; i < callAxes.length; i++) {
      for (TileExpression each : calls.get(i).work()) {
        callAxes[i] |= axes(each);
      }
      for (int axis : calls.get(i).onLast()) {
        callAxes[i] |= 1L << axis;
      }
      known.add(new HashMap<>());
      cold += SharedWork.coldCycles(calls.get(i), chip);
    }
    coldCycles = cold;
  }

  private long axes(TileExpression expression) {
    long mask = 0;
    for (int axis = 0; axis < axes; axis++) {
      mask |= expression.dependsOn(axis) ? 1L << axis : 0;
    }
    return mask;
  }

  /** Whether an operand's tile changes with any axis that is cut. */
  boolean changes(int part, Tiling tiling) {
    return innermost(part, tiling) >= 0;
  }

  private int innermost(int part, Tiling tiling) {
    for (int place = tiling.order().length - 1; place >= 0; place--) {
      int axis = tiling.order()[place];
      if ((partAxes[part] >> axis & 1) == 1 && tiling.count(axis) > 1) {
        return place;
      }
    }
    return -1;
  }

  LoopTime time(Tiling tiling) {
    Loads loads = new Loads(tiling);
    double compute = 0;
    double between = 0;
    for (int i = 0; i < calls.size(); i++) {
      compute += cycles(i, tiling);
      between += chip.tileCycles() * share(calls.get(i), tiling);
    }
    double cycles = chip.loopCycles() + (calls.size() - 1) * chip.callCycles();
    cycles += loads.started() + compute + loads.ended();
    double around = 1;
    double loadCycles = loads.first;
    double storeCycles = loads.last;
    double loaded = loads.firstBytes;
    double stored = loads.lastBytes;
    for (int place = 0; place < axes; place++) {
      long count = tiling.count(tiling.order()[place]);
      double steps = around * (count - 1);
      if (steps > 0) {
        loads.step(place);
        double own = compute + between + loads.moved * chip.moveCycles();
        cycles += steps * (Math.max(own, loads.overlapped()) + loads.waited);
        loadCycles += steps * loads.allLoads;
        storeCycles += steps * loads.allStores;
        loaded += steps * loads.loadBytes;
        stored += steps * loads.storeBytes;
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
        Math.round(stored));
  }

  /** The transfers of one step. */
  private final class Loads {
    private final int[] inner = new int[parts.size()];
    private final double[] cycles = new double[parts.size()];
    private final double[] bytes = new double[parts.size()];
    private final Tiling tiling;
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

    Loads(Tiling tiling) {
      this.tiling = tiling;
      for (int i = 0; i < parts.size(); i++) {
        Part part = parts.get(i);
        inner[i] = innermost(i, tiling);
        switch (part.direction()) {
          case LOAD -> {
            measure(i, load);
            first += cycles[i];
            firstBytes += bytes[i];
          }
          case STORE -> {
            measure(i, store);
            last += cycles[i];
            lastBytes += bytes[i];
          }
          case SCALAR -> inner[i] = -1;
        }
      }
    }

    private void measure(int i, Optional<DmaChannel> channel) {
      if (channel.isEmpty()) {
        return;
      }
      Part part = parts.get(i);
      DmaChannel by = channel.get();
      Mean mean = new Mean(partAxes[i], 0, tiling);
      mean.add(
          at -> {
            BoxTransfer transfer = BoxTransfer.of(part.element(), part.box(), at);
            bytes[i] += mean.share * transfer.bytes();
            cycles[i] += mean.share * transfer.cycles(by);
          });
    }

    /** From the start of the first load to the end of all. */
    double started() {
      double control = 0;
      double moving = 0;
      for (int i = 0; i < parts.size(); i++) {
        if (parts.get(i).direction() == Direction.LOAD) {
          control += chip.operandCycles();
          moving = Math.max(moving, control) + cycles[i];
        }
      }
      return Math.max(control, moving);
    }

    /** Of the last tile's stores. */
    double ended() {
      long stores = parts.stream().filter(each -> each.direction() == Direction.STORE).count();
      return stores * chip.operandCycles() + last;
    }

    /** Sets the sums to those of a step of the axis at a place. */
    void step(int place) {
      doubleLoads = doubleStores = allLoads = allStores = loadBytes = storeBytes = waited = 0;
      moved = 0;
      for (int i = 0; i < parts.size(); i++) {
        if (inner[i] < place) {
          continue;
        }
        moved++;
        boolean isDouble = tiling.slots()[i] == 2;
        waited += isDouble ? 0 : cycles[i];
        if (parts.get(i).direction() == Direction.LOAD) {
          allLoads += cycles[i];
          loadBytes += bytes[i];
          doubleLoads += isDouble ? cycles[i] : 0;
        } else {
          allStores += cycles[i];
          storeBytes += bytes[i];
          doubleStores += isDouble ? cycles[i] : 0;
        }
      }
    }

    /** Of both directions; one channel for both does one after the other. */
    double overlapped() {
      return load.equals(store) ? doubleLoads + doubleStores : Math.max(doubleLoads, doubleStores);
    }
  }

  private double cycles(int i, Tiling tiling) {
    KernelCall call = calls.get(i);
    long onLast = 0;
    for (int axis : call.onLast()) {
      onLast |= 1L << axis;
    }
    Mean mean = new Mean(callAxes[i], onLast, tiling);
    double[] cycles = {0};
    mean.add(
        at -> {
          List<Long> work =
              List.of(
                  call.work().get(0).at(at),
                  call.work().get(1).at(at),
                  call.work().get(2).at(at),
                  call.work().get(3).at(at));
          cycles[0] += mean.share * known.get(i).computeIfAbsent(work, key -> cycles(call, key));
        });
    return share(call, tiling) * cycles[0];
  }

  /** In how many of all tiles it runs. */
  private static double share(KernelCall call, Tiling tiling) {
    double share = 1;
    for (int axis : call.onLast()) {
      share /= tiling.count(axis);
    }
    return share;
  }

  private double cycles(KernelCall call, List<Long> work) {
    return SharedWork.cycles(call, work.get(0), work.get(1), work.get(2), work.get(3), chip);
  }

  /** Full tiles and those at the edge, along some axes; along others the last one only. */
  private final class Mean {
    private final Tiling tiling;
    private final TilePosition at;
    private long edges;

    /** How many of all tiles are like the one that is looked at. */
    private double share = 1;

    Mean(long along, long onLast, Tiling tiling) {
      this.tiling = tiling;
      at = new TilePosition(tiling);
      at.toMiddle();
      for (int axis = 0; axis < axes; axis++) {
        if ((onLast >> axis & 1) == 1) {
          at.toLast(axis);
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
