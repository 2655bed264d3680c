package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.tensor.BlockFloat;
import io.partita.ir.type.ElementType;

/** How the elements of a tile are stored. */
enum TileFormat {
  F32("float32", "Float32", 4L * Matrix.TILE * Matrix.TILE),
  BF16("bfloat16", "Float16_b", 2L * Matrix.TILE * Matrix.TILE),
  /** A byte for each element, and one for the exponent of each block of 16. */
  BF8_B("bfloat8_b", "Bfp8_b", (Matrix.TILE + 2L) * Matrix.TILE);

  private final String host;
  private final String kernel;
  private final long bytes;

  TileFormat(String host, String kernel, long bytes) {
    this.host = host;
    this.kernel = kernel;
    this.bytes = bytes;
  }

  static TileFormat of(ElementType element) {
    return element == ElementType.F32 ? F32 : BF16;
  }

  /** The data type of {@code ttnn}. */
  String host() {
    return host;
  }

  /** The data format of circular buffers. */
  String kernel() {
    return kernel;
  }

  /** The bytes of a tile. */
  long bytes() {
    return bytes;
  }

  /** Rounds the elements of a row to those that the format has. */
  void round(float[] row) {
    if (this == BF8_B) {
      BlockFloat.round(row);
    }
  }
}
