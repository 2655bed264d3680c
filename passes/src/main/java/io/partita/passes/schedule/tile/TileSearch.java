package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.Direction;
import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Finds the tiling of least time. Few possibilities are all tried. Of many a coarse selection is,
 * and from the best of these on one axis at a time is changed as long as that makes it better.
 */
final class TileSearch {
  private static final long ALL = 6_000;
  private static final int FEW_OPERANDS = 3;
  private static final int STARTS = 4;
  private static final double FINE = 1.2;
  private static final double COARSE = 4;

  private final TileSpace space;
  private final LoopModel model;
  private final WorkingMemory memory;
  private final long bytes;
  private final long[] extents;
  private final List<int[]> orders;

  /** Sets of operands, as bits, that have two slots where their tiles change. */
  private final long[] slots;

  /** With one slot each: what is best then is easily missed among the many sets of slots. */
  private final Optional<TileSearch> alone;

  private record Candidate(Tiling tiling, double cycles, double tiles) {}

  private static final Comparator<Candidate> BETTER =
      Comparator.comparingDouble(Candidate::cycles).thenComparingDouble(Candidate::tiles);

  TileSearch(TileSpace space, long bytes, ChipKind chip, boolean doubleBuffer) {
    this.space = space;
    this.bytes = bytes;
    List<LoopModel.Part> parts =
        space.operands().stream()
            .map(each -> new LoopModel.Part(each.element(), each.direction(), each.box()))
            .toList();
    model = new LoopModel(parts, space.calls(), space.axes().size(), chip);
    memory = new WorkingMemory(space, chip.working().alignment());
    extents = space.axes().stream().mapToLong(TileSpace.Axis::extent).toArray();
    orders = orders();
    slots = doubleBuffer ? slots() : new long[] {0};
    alone =
        doubleBuffer ? Optional.of(new TileSearch(space, bytes, chip, false)) : Optional.empty();
  }

  /** All sets of few operands; of many all, all but one, those that are loaded, and none. */
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

  /** The tiling of the smallest tiles, one slot each: if it doesn't fit, none does. */
  Tiling smallest() {
    long[] tiles = space.axes().stream().mapToLong(axis -> TileSizes.of(axis, COARSE)[0]).toArray();
    return tiling(tiles, orders.getFirst(), 0);
  }

  WorkingMemory memory() {
    return memory;
  }

  /** None if the smallest tiles don't fit. */
  Optional<Tiling> best() {
    List<long[]> fine = space.axes().stream().map(axis -> TileSizes.of(axis, FINE)).toList();
    Optional<Candidate> other = alone.flatMap(TileSearch::best).flatMap(this::candidate);
    return Stream.concat(found(fine).stream(), other.stream().map(each -> improve(each, fine)))
        .min(BETTER)
        .map(Candidate::tiling);
  }

  private Optional<Candidate> found(List<long[]> fine) {
    long possibilities = (long) orders.size() * slots.length;
    for (long[] sizes : fine) {
      possibilities = Math.min(ALL + 1, possibilities * sizes.length);
    }
    if (possibilities <= ALL) {
      return all(fine).stream().min(BETTER);
    }
    List<Candidate> starts =
        all(space.axes().stream().map(axis -> TileSizes.of(axis, COARSE)).toList());
    return starts.stream()
        .sorted(BETTER)
        .filter(distinctTiles())
        .limit(STARTS)
        .map(start -> improve(start, fine))
        .min(BETTER);
  }

  /** The first of those that differ in slots and orders only: the others lead to the same. */
  private static Predicate<Candidate> distinctTiles() {
    Set<List<Long>> seen = new HashSet<>();
    return candidate -> seen.add(Arrays.stream(candidate.tiling.tiles()).boxed().toList());
  }

  /** That of the lowering, and each other axis that isn't a reduction as the innermost of those. */
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
    List<Candidate> found = new ArrayList<>();
    for (int[] order : orders) {
      for (long each : slots) {
        all(sizes, 0, new long[extents.length], order, each, found);
      }
    }
    return found;
  }

  private void all(
      List<long[]> sizes, int axis, long[] tiles, int[] order, long each, List<Candidate> found) {
    if (axis == tiles.length) {
      candidate(tiling(tiles.clone(), order, each)).ifPresent(found::add);
      return;
    }
    for (long size : sizes.get(axis)) {
      tiles[axis] = size;
      all(sizes, axis + 1, tiles, order, each, found);
    }
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
          best = better(best, tiles, best.tiling.order());
        }
      }
      for (int[] order : orders) {
        best = better(best, best.tiling.tiles(), order);
      }
    } while (BETTER.compare(best, before) < 0);
    return best;
  }

  private Candidate better(Candidate best, long[] tiles, int[] order) {
    Candidate found = best;
    for (long each : slots) {
      Optional<Candidate> candidate = candidate(tiling(tiles, order, each));
      if (candidate.isPresent() && BETTER.compare(candidate.get(), found) < 0) {
        found = candidate.get();
      }
    }
    return found;
  }

  private Optional<Candidate> candidate(Tiling tiling) {
    if (memory.bytes(tiling) > bytes) {
      return Optional.empty();
    }
    double tiles = 1;
    for (int axis = 0; axis < extents.length; axis++) {
      tiles *= tiling.count(axis);
    }
    return Optional.of(new Candidate(tiling, model.time(tiling).cycles(), tiles));
  }

  private Tiling tiling(long[] tiles, int[] order, long each) {
    int[] ones = new int[space.operands().size()];
    Arrays.fill(ones, 1);
    Tiling tiling = new Tiling(extents, tiles, order, ones);
    for (int i = 0; i < ones.length; i++) {
      boolean isDouble = (each >> i & 1) == 1;
      ones[i] = isDouble && model.changes(i, tiling) ? 2 : 1;
    }
    return tiling;
  }
}
