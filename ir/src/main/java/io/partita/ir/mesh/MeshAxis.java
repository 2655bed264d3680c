package io.partita.ir.mesh;

/** A named axis of a mesh and its number of devices. */
public record MeshAxis(String name, int size) {
  @Override
  public String toString() {
    return name + "=" + size;
  }
}
