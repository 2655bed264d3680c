package io.partita.ir.mesh;

import io.partita.ir.function.ReductionKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Layouts of values that begin or cease to vary over a mesh axis. */
public final class Variations {
  private Variations() {}

  /**
   * Returns the layout of a partial value whose terms become versions.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#ENTRY} if the value
   *     isn't partial over {@code axis}, or varies already
   */
  public static Layout localized(Layout from, String axis) {
    requireAxis(from, axis, "localize", MeshCode.ENTRY);
    boolean fits = from.partial().containsKey(axis) && !from.varying().contains(axis);
    require(fits, "localize", "a value that is partial over " + axis + " and doesn't vary", from);
    Map<String, ReductionKind> partial = new LinkedHashMap<>(from.partial());
    partial.remove(axis);
    return from.withPartial(partial).withVarying(axis);
  }

  /**
   * Returns the layout of a whole value in which each device has its own part of another value.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#ENTRY} if {@code own}
   *     isn't split over {@code axis} alone along {@code dim}, or {@code base} differs otherwise
   */
  public static Layout overlaid(Layout base, Layout own, String axis, int dim) {
    requireAxis(base, axis, "overlay", MeshCode.ENTRY);
    boolean isOwn =
        own.splits().get(dim).axes().equals(List.of(axis)) && !own.varying().contains(axis);
    require(isOwn, "overlay", "dimension " + dim + " of operand 1 split over " + axis, own);
    boolean alike = own.with(dim, Split.NONE).equals(base);
    require(alike, "overlay", "operand 0 as " + own.with(dim, Split.NONE), base);
    return base.withVarying(axis);
  }

  /**
   * Returns the layout of a value of which some places have one version and some another.
   *
   * @param operands the layouts of both versions, which may vary over {@code axis} already, and of
   *     the chosen places
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#ENTRY} if the versions
   *     aren't whole along {@code axis} or differ otherwise
   */
  public static Layout forked(List<Layout> operands, String axis) {
    Layout first = operands.get(0);
    Layout second = operands.get(1);
    requireAxis(first, axis, "fork", MeshCode.ENTRY);
    for (Layout each : List.of(first, second)) {
      boolean isWhole =
          each.splitBy(axis) < 0
              && !each.partial().containsKey(axis)
              && !each.at().containsKey(axis);
      require(isWhole, "fork", "a value that is whole on each device along " + axis, each);
    }
    Layout result = first.withVarying(axis);
    require(second.withVarying(axis).equals(result), "fork", "operand 1 as " + first, second);
    require(operands.get(2).isReplicated(), "fork", "operand 2 whole", operands.get(2));
    return result;
  }

  /**
   * Returns the layout after an exit.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#EXIT} if the first
   *     operand doesn't vary over {@code axis}, or as {@link Exit#settled}
   */
  public static Layout settled(List<Layout> operands, String axis, Exit exit) {
    Layout from = operands.getFirst();
    requireAxis(from, axis, "settle", MeshCode.EXIT);
    if (!from.varying().contains(axis)) {
      throw MeshCode.EXIT.at(exit.where(), "a value that varies over " + axis, from, "");
    }
    Layout to = exit.settled(from, axis);
    if (exit instanceof Exit.Priority && !operands.getLast().isReplicated()) {
      throw MeshCode.EXIT.at(
          exit.where(), "operand 1 whole on all devices", operands.getLast(), "stack and sync it");
    }
    return to;
  }

  private static void requireAxis(Layout layout, String axis, String where, MeshCode code) {
    if (!layout.mesh().has(axis)) {
      throw code.at(where, "an axis of " + layout.mesh(), axis, "");
    }
  }

  private static void require(boolean condition, String where, String expected, Layout found) {
    if (!condition) {
      throw MeshCode.ENTRY.at(where, expected, found, "");
    }
  }
}
