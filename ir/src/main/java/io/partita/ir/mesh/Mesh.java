package io.partita.ir.mesh;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Devices in a grid of named axes. A device has a coordinate on each axis and a flat index, in
 * which the last axis counts fastest.
 */
public record Mesh(List<MeshAxis> axes) {
  /** No system that Partita is for has more; without an end, a plan has no bound. */
  private static final int MOST_DEVICES = 4096;

  /** As many as 4096 devices need when none is idle is 12. */
  private static final int MOST_AXES = 16;

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#MESH} for a name that
   *     isn't a word, a name that comes twice, an axis without devices, or too many devices or axes
   */
  public Mesh {
    axes = List.copyOf(axes);
    require(axes.size() <= MOST_AXES, "at most " + MOST_AXES + " axes", axes.size());
    Set<String> names = new HashSet<>();
    long devices = 1;
    for (MeshAxis axis : axes) {
      require(axis.name().matches("[A-Za-z_][A-Za-z0-9_]*"), "a word as name", axis);
      require(names.add(axis.name()), "axes of different names", axis);
      require(axis.size() >= 1, "an axis of at least 1 device", axis);
      devices = Math.min(devices * axis.size(), Integer.MAX_VALUE);
    }
    require(devices <= MOST_DEVICES, "at most " + MOST_DEVICES + " devices", devices);
  }

  private static void require(boolean condition, String expected, Object found) {
    if (!condition) {
      throw MeshCode.MESH.at("mesh", expected, found, "");
    }
  }

  public static Mesh of(MeshAxis... axes) {
    return new Mesh(List.of(axes));
  }

  /** A mesh of one axis. */
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
   * The number of devices along an axis.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#MESH} for an axis that
   *     isn't there
   */
  public int size(String axis) {
    return axes.get(index(axis)).size();
  }

  /** The product of the sizes. */
  public int size(List<String> axes) {
    return axes.stream().mapToInt(this::size).reduce(1, (left, right) -> left * right);
  }

  /** The place of an axis among the axes. */
  public int index(String axis) {
    for (int i = 0; i < axes.size(); i++) {
      if (axes.get(i).name().equals(axis)) {
        return i;
      }
    }
    throw MeshCode.MESH.at("mesh " + this, "an axis of the mesh", axis, "");
  }

  /** The coordinate of a device on an axis. */
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

  /** The flat index of the device at these coordinates, one for each axis. */
  public int device(int... coordinates) {
    int device = 0;
    for (int i = 0; i < axes.size(); i++) {
      device = device * axes.get(i).size() + coordinates[i];
    }
    return device;
  }

  /** The place of a device among the parts that {@code axes} make, the first counting slowest. */
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
