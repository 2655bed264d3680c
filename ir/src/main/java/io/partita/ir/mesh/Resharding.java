package io.partita.ir.mesh;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** A change of layout. */
public record Resharding(Layout from, Layout to) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#RESHARD} when the
   *     layouts are of other meshes or ranks, vary over other axes, or a device would need more of
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
          "settle ends a variation, localize and overlay begin one");
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
      throw MeshCode.RESHARD.at("layout " + from, "a layout that it can change to", to, "");
    }
  }

  /**
   * What is exchanged along each axis along which something is. Along the others each device has
   * what it needs: it cuts or drops the rest, or becomes a term of a sum whose other terms are
   * zeros.
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

  /** Further cuts inside the same parts move nothing. */
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

  /** Whether any device needs what another has. */
  public boolean communicates() {
    return !kinds().isEmpty();
  }

  /**
   * The reference meaning: what each device holds afterwards. What only devices at one place have
   * and becomes a partial sum stays with them, and the others get zeros; what all have and becomes
   * a partial sum stays on the first. A part that becomes a term of a sum gets zeros around it.
   *
   * @param parts by device, as for {@link Shards}
   * @param type the whole value's type
   * @param tolerance the largest difference between replicas
   */
  public SortedMap<Integer, Tensor> apply(
      SortedMap<Integer, Tensor> parts, TensorType type, double tolerance) {
    if (from.equals(to)) {
      return parts;
    }
    for (int dim = 0; dim < from.rank(); dim++) {
      int major = majorAxes(dim);
      if (major < from.splits().get(dim).axes().size()) {
        Layout sum = from.withSummed(dim, major);
        SortedMap<Integer, Tensor> terms = new TreeMap<>();
        for (Map.Entry<Integer, Tensor> part : parts.entrySet()) {
          terms.put(part.getKey(), term(part.getValue(), type, sum, dim, part.getKey()));
        }
        return new Resharding(sum, to).apply(terms, type, tolerance);
      }
    }
    // Along these axes nothing is joined: each place on them is a mesh of its own. Where each
    // version is split alike, parts of different versions travel as if they were of one.
    Set<String> kept = new TreeSet<>(from.varying());
    kept.removeIf(axis -> from.splitBy(axis) >= 0);
    to.partial().keySet().stream().filter(from.partial()::containsKey).forEach(kept::add);
    Layout source = without(from, kept);
    Layout target = without(to, kept);
    Mesh mesh = from.mesh();
    Map<List<Integer>, SortedMap<Integer, Tensor>> groups = new LinkedHashMap<>();
    SortedMap<Integer, Tensor> results = new TreeMap<>();
    for (int device : to.holders()) {
      List<Integer> place = new ArrayList<>();
      for (String axis : kept) {
        place.add(mesh.coordinate(device, axis));
      }
      SortedMap<Integer, Tensor> group =
          groups.computeIfAbsent(
              place,
              key -> {
                Tensor whole = Shards.assemble(alike(parts, kept, key), type, source, tolerance);
                return Shards.scatter(whole, target, from.at());
              });
      results.put(device, group.get(device));
    }
    return results;
  }

  /** How many axes split a dimension before the first one over which it is to be a sum. */
  private int majorAxes(int dim) {
    List<String> axes = from.splits().get(dim).axes();
    for (int i = 0; i < axes.size(); i++) {
      if (becomesSum(axes.get(i))) {
        return i;
      }
    }
    return axes.size();
  }

  /**
   * Whether parts along an axis become terms as they are; of maxima, sums aren't maxima of sums.
   */
  private boolean becomesSum(String axis) {
    return to.partial().get(axis) == ReductionKind.SUM
        && (from.partial().isEmpty() || from.reduction() == ReductionKind.SUM);
  }

  /** A device's part with zeros around it, so that the sum of all is what they are parts of. */
  private Tensor term(Tensor part, TensorType type, Layout sum, int dim, int device) {
    TensorType wider = sum.localType(type, device);
    long before = from.from(device, dim) - sum.from(device, dim);
    long after = wider.dim(dim).value() - before - part.type().dim(dim).value();
    // A part that is empty may lie anywhere, so its place says nothing.
    before = part.type().dim(dim).is(0) ? 0 : before;
    after = part.type().dim(dim).is(0) ? wider.dim(dim).value() : after;
    return OpEvaluator.evaluate(
            new Movement.Concat(dim),
            List.of(zeros(wider, dim, before), part, zeros(wider, dim, after)))
        .getFirst();
  }

  private static Tensor zeros(TensorType type, int dim, long extent) {
    List<Dim> dims = new ArrayList<>(type.shape().dims());
    dims.set(dim, Dim.of(extent));
    return Tensor.filled(type.with(new Shape(dims)), 0);
  }

  /** For each device, the part of the one at {@code place} along the kept axes. */
  private SortedMap<Integer, Tensor> alike(
      SortedMap<Integer, Tensor> parts, Set<String> kept, List<Integer> place) {
    List<String> axes = List.copyOf(kept);
    Mesh mesh = from.mesh();
    SortedMap<Integer, Tensor> alike = new TreeMap<>();
    for (int device : parts.keySet()) {
      int[] coordinates = Arrays.copyOf(mesh.coordinates(device), mesh.axes().size());
      for (int i = 0; i < axes.size(); i++) {
        coordinates[mesh.index(axes.get(i))] = place.get(i);
      }
      alike.put(device, parts.get(mesh.device(coordinates)));
    }
    return alike;
  }

  private static Layout without(Layout layout, Set<String> axes) {
    Map<String, ReductionKind> partial = new LinkedHashMap<>(layout.partial());
    partial.keySet().removeAll(axes);
    return layout.withVarying(List.of()).withPartial(partial);
  }
}
