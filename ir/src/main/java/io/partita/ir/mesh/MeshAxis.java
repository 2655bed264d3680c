package io.partita.ir.mesh;

/** A named dimension of a mesh with its number of devices. */
public record MeshAxis(String name, int size) {
  @Override
  public String toString() {
    return name + "=" + size;
  }
}
