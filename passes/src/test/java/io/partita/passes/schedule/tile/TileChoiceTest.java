package io.partita.passes.schedule.tile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.CallFields;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Tests that tiles fit the working memory, cover the loop, and are the fastest. */
class TileChoiceTest {
  private static final ChipKind CHIP = TargetLibrary.find("siracusa:chips=1").devices().getFirst();

  @Property(tries = 100)
  void tilesFitAndCoverTheExtents(
      @ForAll @IntRange(min = 1, max = 60) int m,
      @ForAll @IntRange(min = 1, max = 300) int n,
      @ForAll @IntRange(min = 1, max = 300) int k,
      @ForAll @IntRange(min = 1, max = 8) int granule,
      @ForAll @IntRange(min = 2000, max = 200000) int bytes) {
    TileSpace space = TileSpaces.product(ElementType.F32, m, n, k, granule);
    TiledKernel kernel = new TileChoice(CHIP, bytes, true).choose(space, "node");
    assertFits(kernel, bytes);
    for (TileAxis axis : kernel.axes()) {
      assertThat(axis.count()).as(axis.name()).isGreaterThan(1);
      assertThat(axis.tile() % granule).as(axis.name()).isZero();
    }
    long results = 0;
    for (int[] tile : tiles(kernel)) {
      results += elements(kernel.operands().get(2), at(kernel, tile));
    }
    long reductions =
        kernel.axes().stream()
            .filter(axis -> axis.name().equals("k"))
            .mapToLong(TileAxis::count)
            .sum();
    assertThat(results).isEqualTo((long) m * n * Math.max(1, reductions));
  }

  /** Tests that kernels know the size of tiles if all have the same. */
  @Test
  void equalTilesHaveAConstantSize() {
    Set<Boolean> kinds = new HashSet<>();
    for (long columns = 400; columns < 520; columns += 8) {
      TileSpace space = TileSpaces.product(ElementType.I8, 64, columns, 512, 4);
      TiledKernel kernel = new TileChoice(CHIP, 100_000, true).choose(space, "node");
      int n = kernel.axes().stream().map(TileAxis::name).toList().indexOf("n");
      TileAxis axis = kernel.axes().get(n);
      boolean isEqual = axis.extent() % axis.tile() == 0;
      kinds.add(isEqual);
      assertThat(CallFields.find(kernel.calls().getFirst().arguments(), "n"))
          .hasValue(
              new Value.Integer(isEqual ? TileExpression.of(axis.tile()) : TileExpression.size(n)));
    }
    assertThat(kinds).containsExactlyInAnyOrder(true, false);
  }

  /** Tests loads that depend on the position, such as at a border. */
  @Property(tries = 50)
  void everyTileFitsItsSlot(
      @ForAll @IntRange(min = 1, max = 100) int rows,
      @ForAll @IntRange(min = 1, max = 40) int columns,
      @ForAll @IntRange(min = 1000, max = 9000) int bytes) {
    TileSpace space = TileSpaces.window(rows, columns);
    TiledKernel kernel = new TileChoice(CHIP, bytes, true).choose(space, "node");
    assertFits(kernel, bytes);
  }

  private static void assertFits(TiledKernel kernel, long bytes) {
    long end = 0;
    for (TileOperand operand : kernel.operands()) {
      assertThat(operand.offset()).isGreaterThanOrEqualTo(end);
      assertThat(operand.offset() % (operand.element().bits() / 8)).isZero();
      end = operand.offset() + operand.slots() * operand.slotBytes();
      for (int[] tile : tiles(kernel)) {
        assertThat(operand.element().packedBytes(elements(operand, at(kernel, tile))))
            .isLessThanOrEqualTo(operand.slotBytes());
      }
    }
    for (TileScratch scratch : kernel.scratch()) {
      assertThat(scratch.offset()).isGreaterThanOrEqualTo(end);
      end = scratch.offset() + scratch.bytes();
    }
    assertThat(end).isEqualTo(kernel.workingBytes()).isLessThanOrEqualTo(bytes);
  }

  /** Tests that no other tiles, orders and slots are predicted to be faster. */
  @Property(tries = 20)
  void noOtherTilesAreFaster(
      @ForAll @IntRange(min = 1, max = 6) int m,
      @ForAll @IntRange(min = 1, max = 6) int n,
      @ForAll @IntRange(min = 1, max = 8) int k,
      @ForAll @IntRange(min = 100, max = 1500) int bytes) {
    TileSpace space = TileSpaces.product(ElementType.F32, m, n, k, 1);
    double chosen = time(new TileChoice(CHIP, bytes, true).choose(space, "node"));
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
                        1))
            .toList();
    LoopModel model = new LoopModel(parts, space.calls(), 3, CHIP);
    WorkingMemory memory = new WorkingMemory(space, 4, false);
    double least = Double.MAX_VALUE;
    for (int choice = 0; choice < m * n * k * 16; choice++) {
      int rest = choice / 16;
      long[] tiles = {rest % m + 1, rest / m % n + 1, rest / m / n + 1};
      int[] slots = {1 + (choice & 1), 1 + (choice >> 1 & 1), 1 + (choice >> 2 & 1)};
      int[] order = (choice & 8) == 0 ? new int[] {0, 1, 2} : new int[] {1, 0, 2};
      Tiling tiling = new Tiling(new long[] {m, n, k}, tiles, order, slots);
      if (memory.bytes(tiling) <= bytes) {
        least = Math.min(least, model.time(tiling).cycles());
      }
    }
    assertThat(chosen).isBetween(0.999 * least, 1.02 * least);
  }

  @Test
  void tilesOfLargeLoopsAreNearlyOptimal() {
    TileSpace space = TileSpaces.product(ElementType.I8, 128, 512, 512, 4);
    double chosen = time(new TileChoice(CHIP, 60_000, true).choose(space, "node"));
    LoopTime bound = time(space, 128, 512, 512);
    assertThat(chosen).isLessThan(1.1 * bound.computeCycles());
  }

  private static LoopTime time(TileSpace space, long... tiles) {
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
                        1))
            .toList();
    long[] extents = space.axes().stream().mapToLong(TileSpace.Axis::extent).toArray();
    return new LoopModel(parts, space.calls(), 3, CHIP)
        .time(new Tiling(extents, tiles, new int[] {0, 1, 2}, new int[] {1, 1, 1}));
  }

  private static double time(TiledKernel kernel) {
    return LoopTime.of(kernel, CHIP).cycles();
  }

  @Test
  void twoSlotsHideTransfers() {
    TileSpace space = TileSpaces.product(ElementType.I8, 1, 512, 512, 4);
    TiledKernel overlapped = new TileChoice(CHIP, 60_000, true).choose(space, "node");
    TiledKernel alone = new TileChoice(CHIP, 60_000, false).choose(space, "node");
    assertThat(overlapped.operands().get(1).slots()).isEqualTo(2);
    assertThat(alone.operands()).isNotEmpty().allMatch(operand -> operand.slots() == 1);
    assertThat(time(alone)).isGreaterThan(1.05 * time(overlapped));
  }

  /** Tests that choices with one slot are considered. */
  @Property(tries = 60)
  void twoSlotsAreNeverSlower(
      @ForAll @IntRange(min = 1, max = 40) int m,
      @ForAll @IntRange(min = 1, max = 300) int n,
      @ForAll @IntRange(min = 1, max = 300) int k,
      @ForAll @IntRange(min = 3_000, max = 30_000) int bytes) {
    TileSpace space = TileSpaces.product(ElementType.F32, m, n, k, 4);
    double overlapped = time(new TileChoice(CHIP, bytes, true).choose(space, "node"));
    double alone = time(new TileChoice(CHIP, bytes, false).choose(space, "node"));
    assertThat(overlapped).isLessThanOrEqualTo(1.001 * alone);
  }

  /** Tests that a matrix-vector product has a block of columns per core. */
  @Test
  void everyCoreGetsABlock() {
    TileSpace space = TileSpaces.product(ElementType.I8, 1, 2048, 512, 4);
    TiledKernel kernel = new TileChoice(CHIP, 60_000, true).choose(space, "node");
    long columns =
        kernel.axes().stream()
            .filter(axis -> axis.name().equals("n"))
            .mapToLong(TileAxis::tile)
            .findAny()
            .orElse(2048);
    double blocks = Math.ceilDiv(columns, 4);
    double rounds = Math.ceil(blocks / CHIP.cores());
    assertThat(rounds * CHIP.cores() / blocks).isLessThan(1.15);
    assertThat(kernel.operands().get(1).slotBytes()).isBetween(8192L, 30_000L);
  }

  @Test
  void tilesAreDeterministic() {
    TileSpace space = TileSpaces.product(ElementType.I8, 100, 300, 500, 4);
    TiledKernel first = new TileChoice(CHIP, 20_000, true).choose(space, "node");
    assertThat(new TileChoice(CHIP, 20_000, true).choose(space, "other")).isEqualTo(first);
    assertThat(first.name()).isEqualTo("gemm_100_300_500");
  }

  @Test
  void shortagesNameTheLoop() {
    TileSpace space = TileSpaces.window(50, 100);
    assertThatThrownBy(() -> new TileChoice(CHIP, 1999, true).choose(space, "Conv_1"))
        .hasMessage(
            """
            error P4402: the smallest tiles of a loop don't fit the working memory
              where:     Conv_1
              expected:  at most 1999 bytes of l1 on siracusa
              found:     2000 bytes for the smallest tiles of window: x 1200, out 400, line 400
              fix:       use more devices, smaller dimensions, narrower elements, or a larger l1\
            """);
    assertThat(new TileChoice(CHIP, 2000, true).choose(space, "Conv_1").workingBytes())
        .isEqualTo(2000);
  }

  private static long elements(TileOperand operand, TileExpression.Tile tile) {
    long elements = 1;
    for (BoxDimension dimension : operand.box()) {
      long start = dimension.start().at(tile);
      long size = dimension.size().at(tile);
      assertThat(start).isNotNegative();
      assertThat(size).isPositive();
      assertThat(start + size).isLessThanOrEqualTo(dimension.extent());
      elements *= size;
    }
    return elements;
  }

  /** Returns all tiles by their indices along the axes. */
  private static List<int[]> tiles(TiledKernel kernel) {
    List<int[]> found = new ArrayList<>();
    found.add(new int[kernel.axes().size()]);
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      List<int[]> longer = new ArrayList<>();
      for (int[] tile : found) {
        for (int index = 0; index < kernel.axes().get(axis).count(); index++) {
          int[] next = tile.clone();
          next[axis] = index;
          longer.add(next);
        }
      }
      found = longer;
    }
    return found;
  }

  private static TileExpression.Tile at(TiledKernel kernel, int[] index) {
    long[] extents = kernel.axes().stream().mapToLong(TileAxis::extent).toArray();
    long[] tiles = kernel.axes().stream().mapToLong(TileAxis::tile).toArray();
    TilePosition at = new TilePosition(new Tiling(extents, tiles, new int[0], new int[0]));
    for (int axis = 0; axis < index.length; axis++) {
      at.move(axis, index[axis]);
    }
    return at;
  }
}
