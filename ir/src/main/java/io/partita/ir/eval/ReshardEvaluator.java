package io.partita.ir.eval;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Resharding;
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
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** The reference meaning of a change of layout. */
public final class ReshardEvaluator {
  private final Resharding change;
  private final Layout from;
  private final Layout to;

  private ReshardEvaluator(Resharding change) {
    this.change = change;
    this.from = change.from();
    this.to = change.to();
  }

  /**
   * Returns what each device holds afterwards. A value at one place that becomes a partial sum
   * stays there, and the others get zeros; a replicated value that becomes a partial sum stays on
   * the first device. A part that becomes a term of a sum is padded with zeros.
   *
   * @param parts the parts by device, as in {@link Shards}
   * @param type the type of the whole value
   * @param tolerance the largest difference between replicas
   */
  public static SortedMap<Integer, Tensor> apply(
      Resharding change, SortedMap<Integer, Tensor> parts, TensorType type, double tolerance) {
    return new ReshardEvaluator(change).apply(parts, type, tolerance);
  }

  private SortedMap<Integer, Tensor> apply(
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
        return apply(new Resharding(sum, to), terms, type, tolerance);
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

  /**
   * Returns the number of axes that split a dimension before the first one over which it becomes a
   * sum.
   */
  private int majorAxes(int dim) {
    List<String> axes = from.splits().get(dim).axes();
    for (int i = 0; i < axes.size(); i++) {
      if (change.becomesSum(axes.get(i))) {
        return i;
      }
    }
    return axes.size();
  }

  /** Returns a device's part padded with zeros, so that the sum of all is the whole value. */
  private Tensor term(Tensor part, TensorType type, Layout sum, int dim, int device) {
    TensorType wider = sum.localType(type, device);
    long before = from.from(device, dim) - sum.from(device, dim);
    long after = wider.dim(dim).value() - before - part.type().dim(dim).value();
    // The position of an empty part is meaningless.
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

  /** Returns, for each device, the part of the device at {@code place} along the kept axes. */
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
