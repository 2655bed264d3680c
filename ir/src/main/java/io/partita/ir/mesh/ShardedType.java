package io.partita.ir.mesh;

import io.partita.ir.type.TensorType;

/** A tensor's type and how it lies on a mesh; it has a text form. */
public record ShardedType(TensorType type, Layout layout) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TYPE} when the
   *     layout doesn't fit the type
   */
  public ShardedType {
    layout.verify(type);
  }

  /**
   * Reads what {@link #toString} writes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT} or what the
   *     layout's own rules throw
   */
  public static ShardedType parse(String text, Mesh mesh) {
    return new LayoutReader(text, mesh).read();
  }

  public TensorType localType(int device) {
    return layout.localType(type, device);
  }

  /**
   * {@code f32[1,16,512{x}] partial(sum: y) varying(z)}. A split is {@code {x}} or {@code {x,y}}
   * when even, {@code {x/64}} when even in units of 64, else {@code {x: 3,7}} with all inner cuts.
   * What is held at one place only ends with {@code at(stage: 2)}.
   */
  @Override
  public String toString() {
    return LayoutText.print(this);
  }
}
