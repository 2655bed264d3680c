package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.KernelAccess;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.tensor.BlockFloat;
import io.partita.ir.type.ElementType;

/**
 * The tiles of f32 that kernels have of operands in 16 bits or in blocks. Those of results keep all
 * bits until they are stored.
 */
final class UnpackedTiles {
  private final TiledKernel kernel;

  /** The elements of each unpacked operand; null for the others. */
  private final byte[][] tiles;

  /** The elements of a row of each tile. */
  private final long[] rows;

  UnpackedTiles(TiledKernel kernel) {
    this.kernel = kernel;
    this.tiles = new byte[kernel.operands().size()][];
    this.rows = new long[tiles.length];
  }

  boolean has(int operand) {
    return tiles[operand] != null;
  }

  /** Whether a pointer is to elements in blocks, which are loaded whole. */
  boolean areBlocks(Value pointer) {
    return pointer instanceof Value.OperandPointer(var operand, var offset)
        && kernel.operands().get(operand).packing() != Packing.PLAIN;
  }

  /**
   * Begins another tile of an operand.
   *
   * @param row the elements of a row
   */
  void begin(int operand, long elements, long row) {
    if (kernel.isUnpacked(operand)) {
      tiles[operand] = new byte[Math.toIntExact(elements * Float.BYTES)];
      rows[operand] = row;
    }
  }

  int elements(int operand) {
    return tiles[operand].length / Float.BYTES;
  }

  /** Returns the place of an element. */
  Place place(int operand, long element) {
    return new Place(tiles[operand], Math.toIntExact(element * Float.BYTES));
  }

  /** Returns the bytes that an element which a kernel accesses has in the working memory. */
  int storedBytes(Value pointer, KernelAccess access) {
    boolean isUnpacked =
        pointer instanceof Value.OperandPointer(var operand, var offset) && has(operand);
    return (isUnpacked ? ElementType.BF16.bits() : access.bits()) / Byte.SIZE;
  }

  /** Unpacks a tile that was loaded. */
  void unpack(int operand, Place tile) {
    if (has(operand)) {
      TileOperand one = kernel.operands().get(operand);
      double[] elements =
          one.packing() == Packing.BF8_B
              ? blocks(operand, tile)
              : tile.doubles(ElementType.BF16, elements(operand));
      place(operand, 0).write(ElementType.F32, elements);
    }
  }

  private double[] blocks(int operand, Place tile) {
    double[] elements = new double[elements(operand)];
    int row = Math.toIntExact(rows[operand]);
    int at = tile.at();
    for (int first = 0; first < elements.length; first += row) {
      BlockFloat.decode(tile.memory(), at, elements, first, row);
      at += Math.toIntExact(BlockFloat.bytes(row));
    }
    return elements;
  }

  /** Packs a tile that is going to be stored. */
  void pack(int operand, Place tile) {
    if (has(operand)) {
      double[] elements = place(operand, 0).doubles(ElementType.F32, elements(operand));
      tile.write(ElementType.BF16, elements);
    }
  }
}
