package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.KernelAccess;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.type.ElementType;

/**
 * The tiles of f32 that kernels have of operands in 16 bits. Those of results keep all bits until
 * they are stored.
 */
final class UnpackedTiles {
  private final TiledKernel kernel;

  /** The elements of each unpacked operand; null for the others. */
  private final byte[][] tiles;

  UnpackedTiles(TiledKernel kernel) {
    this.kernel = kernel;
    this.tiles = new byte[kernel.operands().size()][];
  }

  boolean has(int operand) {
    return tiles[operand] != null;
  }

  /** Begins another tile of an operand. */
  void begin(int operand, long bytes) {
    if (kernel.isUnpacked(operand)) {
      long elements = bytes * Byte.SIZE / ElementType.BF16.bits();
      tiles[operand] = new byte[Math.toIntExact(elements * Float.BYTES)];
    }
  }

  private int elements(int operand) {
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
      double[] elements = tile.doubles(ElementType.BF16, elements(operand));
      place(operand, 0).write(ElementType.F32, elements);
    }
  }

  /** Packs a tile that is going to be stored. */
  void pack(int operand, Place tile) {
    if (has(operand)) {
      double[] elements = place(operand, 0).doubles(ElementType.F32, elements(operand));
      tile.write(ElementType.BF16, elements);
    }
  }
}
