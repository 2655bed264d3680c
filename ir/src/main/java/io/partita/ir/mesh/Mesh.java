package io.partita.ir.mesh;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A grid of devices with named axes. A device has a coordinate on each axis and a row-major flat
 * index.
 */
public record Mesh(List<MeshAxis> axes) {
  /** The largest supported number of devices, which bounds planning. */
  public static final int MAX_DEVICES = 4096;

  /** The largest number of axes; 4,096 devices need at most 12 of more than one device. */
  private static final int MAX_AXES = 16;

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#MESH} if a name isn't a
   *     word or is repeated, an axis has no device, or there are too many devices or axes
   */
  public Mesh {
    axes = List.copyOf(axes);
    require(axes.size() <= MAX_AXES, "at most " + MAX_AXES + " axes", axes.size());
    Set<String> names = new HashSet<>();
    long devices = 1;
    for (MeshAxis axis : axes) {
      require(axis.name().matches("[A-Za-z_][A-Za-z0-9_]*"), "a name of letters and digits", axis);
      require(names.add(axis.name()), "axes with different names", axis);
      require(axis.size() >= 1, "an axis of at least 1 device", axis);
      devices = Math.min(devices * axis.size(), Integer.MAX_VALUE);
    }
    require(devices <= MAX_DEVICES, "at most " + MAX_DEVICES + " devices", devices);
  }

  private static void require(boolean condition, String expected, Object found) {
    if (!condition) {
      throw MeshCode.MESH.at("mesh", expected, found, "");
    }
  }

  public static Mesh of(MeshAxis... axes) {
    return new Mesh(List.of(axes));
  }

  /** Returns a mesh of one axis. */
  public static Mesh line(String axis, int devices) {
    return of(new MeshAxis(axis, devices));
  }

  public int devices() {
    return axes.stream().mapToInt(MeshAxis::size).reduce(1, (left, right) -> left * right);
  }

  public boolean has(String axis) {
    return axes.stream().anyMatch(candidate -> candidate.name().equals(axis));
  }

  /**
   * Returns the number of devices along an axis.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#MESH} if there is no
   *     such axis
   */
  public int size(String axis) {
    return axes.get(index(axis)).size();
  }

  /** Returns the product of the sizes of axes. */
  public int size(List<String> axes) {
    return axes.stream().mapToInt(this::size).reduce(1, (left, right) -> left * right);
  }

  /** Returns the position of an axis. */
  public int index(String axis) {
    for (int i = 0; i < axes.size(); i++) {
      if (axes.get(i).name().equals(axis)) {
        return i;
      }
    }
    throw MeshCode.MESH.at("mesh " + this, "an axis of the mesh", axis, "");
  }

  /** Returns the coordinate of a device on an axis. */
  public int coordinate(int device, String axis) {
    int at = index(axis);
    int inner = 1;
    for (MeshAxis below : axes.subList(at + 1, axes.size())) {
      inner *= below.size();
    }
    return device / inner % axes.get(at).size();
  }

  public int[] coordinates(int device) {
    return axes.stream().mapToInt(axis -> coordinate(device, axis.name())).toArray();
  }

  /** Returns the flat index of the device with these coordinates. */
  public int device(int... coordinates) {
    int device = 0;
    for (int i = 0; i < axes.size(); i++) {
      device = device * axes.get(i).size() + coordinates[i];
    }
    return device;
  }

  /**
   * Returns the number of the part that a device holds of a dimension that {@code axes} split,
   * major to minor.
   */
  public int part(int device, List<String> axes) {
    int part = 0;
    for (String axis : axes) {
      part = part * size(axis) + coordinate(device, axis);
    }
    return part;
  }

  /** {@code mesh(x=4, y=2)}. */
  @Override
  public String toString() {
    return axes.stream().map(MeshAxis::toString).collect(Collectors.joining(", ", "mesh(", ")"));
  }
}
