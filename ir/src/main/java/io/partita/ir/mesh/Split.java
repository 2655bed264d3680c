package io.partita.ir.mesh;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The division of a dimension into consecutive parts, one for each place on some mesh axes. Part
 * {@code i} is {@code [cuts[i], cuts[i+1])}; parts may be unequal or empty.
 *
 * @param axes mesh axes, major to minor; empty for an undivided dimension
 * @param cuts the bounds of the parts, ascending from 0 to the extent; empty without axes
 */
public record Split(List<String> axes, List<Long> cuts) {
  /** An undivided dimension. */
  public static final Split NONE = new Split(List.of(), List.of());

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT} if the cuts
   *     don't ascend from 0
   */
  public Split {
    axes = List.copyOf(axes);
    cuts = List.copyOf(cuts);
    boolean ascends = axes.isEmpty() ? cuts.isEmpty() : cuts.size() >= 2 && cuts.getFirst() == 0;
    for (int i = 1; i < cuts.size(); i++) {
      ascends = ascends && cuts.get(i - 1) <= cuts.get(i);
    }
    if (!ascends) {
      throw MeshCode.LAYOUT.at("split over " + axes, "cuts that ascend from 0", cuts, "");
    }
  }

  /** Returns the most even split; the first parts take the remainder. */
  public static Split even(Mesh mesh, long extent, String... axes) {
    return even(mesh, extent, 1, List.of(axes));
  }

  /**
   * Returns the most even split at multiples of {@code unit}, such as the size of a head; the first
   * parts take the remaining units. The last unit may be short.
   */
  public static Split even(Mesh mesh, long extent, long unit, List<String> axes) {
    long parts = mesh.size(axes);
    long units = Math.ceilDiv(extent, unit);
    List<Long> cuts = new ArrayList<>();
    for (long part = 0; part <= parts; part++) {
      long before = units / parts * part + Math.min(part, units % parts);
      cuts.add(Math.min(before * unit, extent));
    }
    return new Split(axes, cuts);
  }

  /** Returns a split into parts of given sizes, for devices with different memories. */
  public static Split sizes(List<String> axes, List<Long> sizes) {
    List<Long> cuts = new ArrayList<>(List.of(0L));
    sizes.forEach(size -> cuts.add(cuts.getLast() + size));
    return new Split(axes, cuts);
  }

  public boolean isNone() {
    return axes.isEmpty();
  }

  public int parts() {
    return cuts.size() - 1;
  }

  /** Returns the extent of the dimension. */
  public long extent() {
    return cuts.getLast();
  }

  public long from(int part) {
    return cuts.get(part);
  }

  public long to(int part) {
    return cuts.get(part + 1);
  }

  public long size(int part) {
    return to(part) - from(part);
  }

  /** Returns the split of an extent in units that are {@code unit} times smaller. */
  public Split times(long unit) {
    return unit == 1
        ? this
        : new Split(axes, cuts.stream().map(cut -> Math.multiplyExact(cut, unit)).toList());
  }

  /** Returns the split in larger units; empty if a cut is inside a unit. */
  public Optional<Split> dividedBy(long unit) {
    if (unit == 1) {
      return Optional.of(this);
    }
    return cuts.stream().allMatch(cut -> cut % unit == 0)
        ? Optional.of(new Split(axes, cuts.stream().map(cut -> cut / unit).toList()))
        : Optional.empty();
  }

  /** Returns the split by the first {@code count} axes alone. */
  public Split major(Mesh mesh, int count) {
    if (count == 0) {
      return NONE;
    }
    int inner = mesh.size(axes.subList(count, axes.size()));
    List<Long> coarse = new ArrayList<>();
    for (int i = 0; i < cuts.size(); i += inner) {
      coarse.add(cuts.get(i));
    }
    return new Split(axes.subList(0, count), coarse);
  }

  /** Whether this split divides the parts of {@code other} further, over more axes. */
  public boolean refines(Mesh mesh, Split other) {
    int count = other.axes.size();
    return axes.size() >= count
        && axes.subList(0, count).equals(other.axes)
        && major(mesh, count).equals(other);
  }
}
