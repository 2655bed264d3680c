package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.Direction;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Finds the tiling with the least time. Few candidates are all tried. Of many, a coarse selection
 * is tried, and the best of these is improved by changing one axis at a time.
 */
final class TileSearch {
  private static final long ALL = 6_000;
  private static final int FEW_OPERANDS = 3;
  private static final int STARTS = 4;
  private static final double FINE = 1.2;
  private static final double COARSE = 4;

  /** One slot for each operand. */
  private static final long[] ALONE = {0};

  private final TileSpace space;
  private final LoopModel model;
  private final WorkingMemory memory;
  private final long bytes;
  private final long[] extents;
  private final List<int[]> orders;

  /** Candidate sets of operands with two slots, as bits; effective if their tiles change. */
  private final long[] slots;

  /** The best tilings with one slot each, which are easily missed among the many sets of slots. */
  private final Optional<TileSearch> alone;

  private record Candidate(Tiling tiling, double cycles, double tiles) {}

  /**
   * A choice of tile sizes.
   *
   * @param bytes the bytes of one slot of each operand, and of scratch
   * @param changing the operands whose tiles change, as bits; others need only one slot
   */
  private record Tiles(long[] sizes, TileFigures figures, long[] bytes, long changing) {
    double count() {
      double count = 1;
      for (long each : figures.counts()) {
        count *= each;
      }
      return count;
    }
  }

  /** Without intermediate comparators, as a search compares thousands of candidates. */
  private static final Comparator<Candidate> BETTER =
      (one, other) -> {
        int byCycles = Double.compare(one.cycles, other.cycles);
        return byCycles != 0 ? byCycles : Double.compare(one.tiles, other.tiles);
      };

  /**
   * @param grid the distribution over cores that have private tiles; their loops have the order of
   *     the lowering
   */
  TileSearch(
      TileSpace space, long bytes, ChipKind chip, boolean doubleBuffer, Optional<GridTiles> grid) {
    this.space = space;
    this.bytes = bytes;
    List<LoopModel.Part> parts =
        space.operands().stream()
            .map(
                each ->
                    new LoopModel.Part(
                        each.element(),
                        each.packing(),
                        each.direction(),
                        each.box(),
                        each.isNear(),
                        grid.map(tiles -> tiles.sharing(each)).orElse(1L)))
            .toList();
    model = new LoopModel(parts, space.calls(), space.axes().size(), chip);
    memory =
        new WorkingMemory(
            space, chip.working().alignment(), chip.working().scope() == Memory.Scope.CORE);
    extents = space.axes().stream().mapToLong(TileSpace.Axis::extent).toArray();
    orders = grid.isPresent() ? orders().subList(0, 1) : orders();
    slots = doubleBuffer ? slots() : ALONE;
    alone = doubleBuffer ? Optional.of(new TileSearch(this)) : Optional.empty();
  }

  private TileSearch(TileSearch search) {
    space = search.space;
    bytes = search.bytes;
    model = search.model;
    memory = search.memory;
    extents = search.extents;
    orders = search.orders;
    slots = ALONE;
    alone = Optional.empty();
  }

  /**
   * Returns all sets of few operands; for many operands: all, all but one, the loaded ones, and
   * none.
   */
  private long[] slots() {
    int operands = space.operands().size();
    TreeSet<Long> sets = new TreeSet<>(Comparator.reverseOrder());
    long all = (1L << operands) - 1;
    long loads = 0;
    for (int i = 0; i < operands; i++) {
      sets.add(all & ~(1L << i));
      loads |= space.operands().get(i).direction() == Direction.LOAD ? 1L << i : 0;
    }
    sets.addAll(List.of(0L, all, loads));
    if (operands <= FEW_OPERANDS) {
      LongStream.range(0, all).forEach(sets::add);
    }
    return sets.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns the tiling with the smallest tiles and one slot each; if it doesn't fit, none does. */
  Tiling smallest() {
    long[] tiles = space.axes().stream().mapToLong(axis -> TileSizes.of(axis, COARSE)[0]).toArray();
    return tiling(tiles, orders.getFirst(), 0);
  }

  boolean waitsForLoads(Tiling tiling) {
    return model.time(tiling).waitsForLoads();
  }

  WorkingMemory memory() {
    return memory;
  }

  /** Returns the best tiling; empty if the smallest tiles don't fit. */
  Optional<Tiling> best() {
    List<long[]> fine = space.axes().stream().map(axis -> TileSizes.of(axis, FINE)).toList();
    if (possibilities(fine) <= ALL) {
      return all(fine).stream().min(BETTER).map(Candidate::tiling);
    }
    List<Candidate> starts =
        all(space.axes().stream().map(axis -> TileSizes.of(axis, COARSE)).toList());
    Stream<Candidate> found =
        starts.stream()
            .sorted(BETTER)
            .filter(distinctTiles())
            .limit(STARTS)
            .map(start -> improve(start, fine));
    Stream<Candidate> other =
        alone.flatMap(TileSearch::best).map(this::timed).map(each -> improve(each, fine)).stream();
    return Stream.concat(found, other).min(BETTER).map(Candidate::tiling);
  }

  private long possibilities(List<long[]> sizes) {
    long possibilities = (long) orders.size() * slots.length;
    for (long[] each : sizes) {
      possibilities = Math.min(ALL + 1, possibilities * each.length);
    }
    return possibilities;
  }

  /** Keeps the first of tilings that differ only in slots and order. */
  private static Predicate<Candidate> distinctTiles() {
    Set<List<Long>> seen = new HashSet<>();
    return candidate -> seen.add(Arrays.stream(candidate.tiling.tiles()).boxed().toList());
  }

  /**
   * Returns the order of the lowering, and orders with each other non-reduction axis as the
   * innermost one of these.
   */
  private List<int[]> orders() {
    List<int[]> found = new ArrayList<>();
    int parallel = (int) space.axes().stream().filter(axis -> !axis.reduction()).count();
    int[] given = new int[space.axes().size()];
    int next = 0;
    for (boolean reduction : new boolean[] {false, true}) {
      for (int axis = 0; axis < given.length; axis++) {
        if (space.axes().get(axis).reduction() == reduction) {
          given[next++] = axis;
        }
      }
    }
    found.add(given);
    for (int place = 0; place < parallel - 1; place++) {
      if (space.axes().get(given[place]).canBeCut()) {
        int[] order = given.clone();
        System.arraycopy(given, place + 1, order, place, parallel - 1 - place);
        order[parallel - 1] = given[place];
        found.add(order);
      }
    }
    return found;
  }

  private List<Candidate> all(List<long[]> sizes) {
    List<Tiles> tiles = new ArrayList<>();
    all(sizes, 0, new long[extents.length], tiles);
    Map<Long, boolean[]> firstOrders = new HashMap<>();
    Map<Long, boolean[]> firstSlots = new HashMap<>();
    List<Candidate> found = new ArrayList<>();
    for (int order = 0; order < orders.size(); order++) {
      for (int set = 0; set < slots.length; set++) {
        for (Tiles each : tiles) {
          if (firstOrders.computeIfAbsent(cut(each), this::firstOrders)[order]
              && firstSlots.computeIfAbsent(each.changing, this::firstSlots)[set]) {
            candidate(each, orders.get(order), slots[set]).ifPresent(found::add);
          }
        }
      }
    }
    return found;
  }

  /** Returns the tilings that fit with one slot each. */
  private void all(List<long[]> sizes, int axis, long[] tiles, List<Tiles> found) {
    if (axis == tiles.length) {
      Tiles each = tiles(tiles.clone());
      if (memory.bytes(each.bytes, 0) <= bytes) {
        found.add(each);
      }
      return;
    }
    for (long size : sizes.get(axis)) {
      tiles[axis] = size;
      all(sizes, axis + 1, tiles, found);
    }
  }

  /**
   * Returns the axes with several tiles, as bits; the position of others in the order is
   * irrelevant.
   */
  private static long cut(Tiles tiles) {
    long mask = 0;
    long[] counts = tiles.figures.counts();
    for (int axis = 0; axis < counts.length; axis++) {
      mask |= counts[axis] > 1 ? 1L << axis : 0;
    }
    return mask;
  }

  /** Returns the orders that differ from earlier ones if only some axes are tiled. */
  private boolean[] firstOrders(long cut) {
    Set<List<Integer>> seen = new HashSet<>();
    boolean[] first = new boolean[orders.size()];
    for (int i = 0; i < first.length; i++) {
      first[i] =
          seen.add(
              Arrays.stream(orders.get(i)).filter(axis -> (cut >> axis & 1) == 1).boxed().toList());
    }
    return first;
  }

  /** Returns the sets of slots that differ from earlier ones if only some operands change. */
  private boolean[] firstSlots(long changing) {
    Set<Long> seen = new HashSet<>();
    boolean[] first = new boolean[slots.length];
    for (int i = 0; i < first.length; i++) {
      first[i] = seen.add(slots[i] & changing);
    }
    return first;
  }

  private Candidate improve(Candidate start, List<long[]> sizes) {
    Candidate best = start;
    Candidate before;
    do {
      before = best;
      for (int axis = 0; axis < extents.length; axis++) {
        for (long size : sizes.get(axis)) {
          long[] tiles = best.tiling.tiles().clone();
          tiles[axis] = size;
          best = better(best, tiles(tiles), best.tiling.order());
        }
      }
      Tiles tiles = tiles(best.tiling.tiles());
      for (int[] order : orders) {
        best = better(best, tiles, order);
      }
    } while (BETTER.compare(best, before) < 0);
    return best;
  }

  private Candidate better(Candidate best, Tiles tiles, int[] order) {
    Candidate found = best;
    Set<Long> seen = new HashSet<>();
    for (long each : slots) {
      if (seen.add(each & tiles.changing)) {
        Optional<Candidate> candidate = candidate(tiles, order, each);
        if (candidate.isPresent() && BETTER.compare(candidate.get(), found) < 0) {
          found = candidate.get();
        }
      }
    }
    return found;
  }

  private Tiles tiles(long[] sizes) {
    Tiling tiling = tiling(sizes, orders.getFirst(), 0);
    TileFigures figures = model.figures(tiling);
    return new Tiles(sizes, figures, memory.parts(tiling), model.changing(figures));
  }

  private Optional<Candidate> candidate(Tiles tiles, int[] order, long each) {
    long isDouble = each & tiles.changing;
    if (memory.bytes(tiles.bytes, isDouble) > bytes) {
      return Optional.empty();
    }
    Tiling tiling = tiling(tiles.sizes, order, isDouble);
    double cycles = model.time(order, tiling.slots(), tiles.figures).cycles();
    return Optional.of(new Candidate(tiling, cycles, tiles.count()));
  }

  private Candidate timed(Tiling tiling) {
    return candidate(tiles(tiling.tiles()), tiling.order(), 0).orElseThrow();
  }

  private Tiling tiling(long[] tiles, int[] order, long isDouble) {
    int[] own = new int[space.operands().size()];
    Arrays.setAll(own, i -> (isDouble >> i & 1) == 1 ? 2 : 1);
    return new Tiling(extents, tiles, order, own);
  }
}
