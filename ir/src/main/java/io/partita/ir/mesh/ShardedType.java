package io.partita.ir.mesh;

import io.partita.ir.type.TensorType;

/** The type of a tensor and its layout on a mesh. */
public record ShardedType(TensorType type, Layout layout) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TYPE} if the
   *     layout doesn't fit the type
   */
  public ShardedType {
    layout.verify(type);
  }

  /**
   * Parses the text of {@link #toString}.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}, or as the
   *     constructors
   */
  public static ShardedType parse(String text, Mesh mesh) {
    return new LayoutReader(text, mesh).read();
  }

  public TensorType localType(int device) {
    return layout.localType(type, device);
  }

  /**
   * {@code f32[1,16,512{x}] partial(sum: y) varying(z)}. An even split is {@code {x}} or {@code
   * {x,y}}, one that is even in units of 64 is {@code {x/64}}, and any other one lists its inner
   * cuts: {@code {x: 3,7}}. A tensor at one place ends with {@code at(stage: 2)}.
   */
  @Override
  public String toString() {
    return LayoutText.print(this);
  }
}
