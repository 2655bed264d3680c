package io.partita.ir.mesh;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How an extent is cut into consecutive parts, one for each place on some mesh axes, the first of
 * which counts slowest. Part {@code i} is {@code [cuts[i], cuts[i+1])}; parts may be unequal and
 * empty.
 *
 * @param axes mesh axes, major to minor; none for an extent that isn't cut
 * @param cuts ascending from 0 to the extent, one more than parts; none without axes
 */
public record Split(List<String> axes, List<Long> cuts) {
  /** Not cut. */
  public static final Split NONE = new Split(List.of(), List.of());

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT} for cuts that
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

  /** As even as can be: the first parts get one more. */
  public static Split even(Mesh mesh, long extent, String... axes) {
    return even(mesh, extent, 1, List.of(axes));
  }

  /**
   * Cuts at multiples of {@code unit} only (such as the size of a head), as many units in each part
   * as can be: the first parts get one more. The last unit may be short.
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

  /** Parts of these sizes, such as for devices of unequal memory. */
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

  /** The extent that is cut. */
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

  /** The same parts of an extent that counts in units {@code unit} times as small. */
  public Split times(long unit) {
    return unit == 1
        ? this
        : new Split(axes, cuts.stream().map(cut -> Math.multiplyExact(cut, unit)).toList());
  }

  /** The same parts counted in units; none where a cut is inside a unit. */
  public Optional<Split> dividedBy(long unit) {
    if (unit == 1) {
      return Optional.of(this);
    }
    return cuts.stream().allMatch(cut -> cut % unit == 0)
        ? Optional.of(new Split(axes, cuts.stream().map(cut -> cut / unit).toList()))
        : Optional.empty();
  }

  /** The parts that the first {@code count} axes alone make. */
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

  /** Whether this only cuts the parts of {@code other} further, over more axes. */
  public boolean refines(Mesh mesh, Split other) {
    int count = other.axes.size();
    return axes.size() >= count
        && axes.subList(0, count).equals(other.axes)
        && major(mesh, count).equals(other);
  }
}
