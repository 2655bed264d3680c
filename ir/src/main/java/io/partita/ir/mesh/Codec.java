package io.partita.ir.mesh;

/** In which form elements travel between devices. */
public sealed interface Codec {
  /** As they are. */
  record Exact() implements Codec {
    @Override
    public String toString() {
      return "exact";
    }
  }

  Codec EXACT = new Exact();

  /**
   * Reads what {@code toString} writes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}
   */
  static Codec parse(String text) {
    if (text.equals("exact")) {
      return EXACT;
    }
    throw MeshCode.LAYOUT_TEXT.at("codec", "exact", text, "");
  }
}
