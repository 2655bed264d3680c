package io.partita.ir.mesh;

import io.partita.ir.function.ReductionKind;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/** A change of layout. */
public record Resharding(Layout from, Layout to) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#RESHARD} if the layouts
   *     have different meshes or ranks, vary over different axes, or a device would need more of
   *     its version than it holds
   */
  public Resharding {
    boolean alike = from.mesh().equals(to.mesh()) && from.rank() == to.rank();
    require(alike, from, to);
    if (!from.varying().equals(to.varying())) {
      throw MeshCode.RESHARD.at(
          "layout " + from,
          "a layout that varies over the same axes",
          to,
          "use settle to end a variation, and localize or overlay to begin one");
    }
    from.partial()
        .forEach((axis, kind) -> require(to.partial().getOrDefault(axis, kind) == kind, from, to));
    for (String axis : from.varying()) {
      int before = from.splitBy(axis);
      boolean keeps =
          from.partial().containsKey(axis) == to.partial().containsKey(axis)
              && (before < 0 || sameCuts(from, to, axis, before, to.splitBy(axis)));
      require(keeps, from, to);
    }
  }

  private static void require(boolean condition, Layout from, Layout to) {
    if (!condition) {
      throw MeshCode.RESHARD.at("layout " + from, "a layout to which it can change", to, "");
    }
  }

  /**
   * Returns the kind of exchange along each axis that needs one. Along the others each device has
   * what it needs: it keeps a part, drops its copy, or becomes a term of a sum whose other terms
   * are zeros.
   */
  public SequencedMap<String, SyncKind> kinds() {
    SequencedMap<String, SyncKind> kinds = new LinkedHashMap<>();
    for (MeshAxis axis : from.mesh().axes()) {
      if (axis.size() > 1) {
        kind(axis.name()).ifPresent(kind -> kinds.put(axis.name(), kind));
      }
    }
    return kinds;
  }

  private Optional<SyncKind> kind(String axis) {
    int before = from.splitBy(axis);
    int after = to.splitBy(axis);
    boolean isPartial = to.partial().containsKey(axis);
    if (from.varying().contains(axis)) {
      return Optional.empty();
    } else if (to.at().containsKey(axis)) {
      return toPlace(axis, before);
    } else if (from.at().containsKey(axis)) {
      boolean isSum = to.partial().get(axis) == ReductionKind.SUM;
      return after >= 0
          ? Optional.of(SyncKind.SCATTER)
          : isSum ? Optional.empty() : Optional.of(SyncKind.BROADCAST);
    } else if (from.partial().containsKey(axis) && !isPartial) {
      return Optional.of(after >= 0 ? SyncKind.REDUCE_SCATTER : SyncKind.ALL_REDUCE);
    } else if (before >= 0 && after < 0 && !becomesSum(axis)) {
      return Optional.of(SyncKind.ALL_GATHER);
    } else if (before >= 0 && after >= 0 && !sameCuts(from, to, axis, before, after)) {
      return Optional.of(SyncKind.ALL_TO_ALL);
    }
    return Optional.empty();
  }

  private Optional<SyncKind> toPlace(String axis, int splitBefore) {
    Integer place = from.at().get(axis);
    if (place != null) {
      return place.equals(to.at().get(axis)) ? Optional.empty() : Optional.of(SyncKind.SEND);
    } else if (splitBefore >= 0) {
      return Optional.of(SyncKind.GATHER);
    }
    return from.partial().containsKey(axis) ? Optional.of(SyncKind.REDUCE) : Optional.empty();
  }

  /** Whether the parts along an axis stay the same; further cuts inside them move nothing. */
  private static boolean sameCuts(Layout from, Layout to, String axis, int dim, int then) {
    if (dim != then) {
      return false;
    }
    Split before = from.splits().get(dim);
    Split after = to.splits().get(then);
    int place = before.axes().indexOf(axis);
    return place == after.axes().indexOf(axis)
        && before.major(from.mesh(), place + 1).equals(after.major(to.mesh(), place + 1));
  }

  /** Whether any device needs data of another one. */
  public boolean communicates() {
    return !kinds().isEmpty();
  }

  /**
   * Whether parts along an axis become terms of a sum without communication. Partial maxima don't:
   * a sum of maxima isn't a maximum of sums.
   */
  public boolean becomesSum(String axis) {
    return to.partial().get(axis) == ReductionKind.SUM
        && (from.partial().isEmpty() || from.reduction() == ReductionKind.SUM);
  }
}
