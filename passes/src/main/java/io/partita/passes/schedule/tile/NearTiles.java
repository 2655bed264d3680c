package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Tells whether kernels can use the tiles of a tensor in the working memory: each tile must be one
 * aligned line there, since kernels expect dense tiles.
 */
public final class NearTiles {
  /** The largest number of tiles that are examined. */
  private static final long MOST_TILES = 1024;

  private NearTiles() {}

  /** Returns whether the whole tensor of an operand is one line. */
  public static boolean isLine(TileSpace space, int operand) {
    long[] extents = space.axes().stream().mapToLong(TileSpace.Axis::extent).toArray();
    Tiling whole = new Tiling(extents, extents, new int[0], new int[0]);
    return BoxDimension.isLine(space.operands().get(operand).box(), new TilePosition(whole));
  }

  /**
   * Returns whether all tiles of an operand are lines whose first element is a multiple of {@code
   * alignment} bytes from that of the tensor.
   */
  public static boolean areLines(TiledKernel kernel, int operand, long alignment) {
    TileOperand own = kernel.operands().get(operand);
    long[] extents = kernel.axes().stream().mapToLong(TileAxis::extent).toArray();
    long[] tiles = kernel.axes().stream().mapToLong(TileAxis::tile).toArray();
    Tiling tiling = new Tiling(extents, tiles, new int[0], new int[0]);
    int[] axes = IntStream.range(0, extents.length).filter(own::dependsOn).toArray();
    long count = Arrays.stream(axes).mapToLong(tiling::count).reduce(1, Math::multiplyExact);
    return count <= MOST_TILES
        && areLines(own, alignment, axes, 0, tiling, new TilePosition(tiling));
  }

  private static boolean areLines(
      TileOperand operand, long alignment, int[] axes, int depth, Tiling tiling, TilePosition at) {
    if (depth == axes.length) {
      return BoxDimension.isLine(operand.box(), at)
          && operand.element().packedBytes(start(operand.box(), at)) % alignment == 0;
    }
    for (long index = 0; index < tiling.count(axes[depth]); index++) {
      at.move(axes[depth], index);
      if (!areLines(operand, alignment, axes, depth + 1, tiling, at)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of elements before a tile. */
  private static long start(List<BoxDimension> box, TileExpression.Tile at) {
    return box.stream().mapToLong(each -> each.start().at(at) * each.stride()).sum();
  }
}
