package io.partita.backend.metalium;

import io.partita.ir.type.ElementType;

/** How the elements of matrices travel between chips. */
enum Wire {
  /** As they are stored. */
  STORED(""),
  /** {@link Codes}, each as a byte. */
  BYTES("byte_"),
  /** Numbers of bf16, in a model of f32. */
  BF16("bf16_");

  private final String prefix;

  Wire(String prefix) {
    this.prefix = prefix;
  }

  /**
   * @param element of the messages
   * @param stored the format of matrices
   */
  static Wire of(ElementType element, TileFormat stored) {
    return switch (element) {
      case U8 -> BYTES;
      case BF16 -> stored == TileFormat.F32 ? BF16 : STORED;
      default -> STORED;
    };
  }

  /** What the names of kernels begin with. */
  String prefix() {
    return prefix;
  }

  /** The format of the pages that are sent and joined. */
  TileFormat pages(TileFormat stored) {
    return this == BF16 ? TileFormat.BF16 : stored;
  }
}
