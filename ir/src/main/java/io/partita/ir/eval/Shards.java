package io.partita.ir.eval;

import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Converts between a whole tensor and the parts that the devices of a mesh hold: a map by device,
 * in the order of flat indices; a device that holds nothing has no entry.
 */
public final class Shards {
  private Shards() {}

  /**
   * Returns the part of {@code whole} on each device. For a partial sum, the first device along the
   * axis gets the value and the others zeros; a partial maximum and a varying value are on all
   * devices.
   */
  public static SortedMap<Integer, Tensor> scatter(Tensor whole, Layout layout) {
    return scatter(whole, layout, Map.of());
  }

  /**
   * Like {@link #scatter(Tensor, Layout)}, but the value of a partial sum over an axis is at a
   * given coordinate, and not on the first device.
   */
  static SortedMap<Integer, Tensor> scatter(
      Tensor whole, Layout layout, Map<String, Integer> places) {
    layout.verify(whole.type());
    SortedMap<Integer, Tensor> parts = new TreeMap<>();
    for (int device : layout.holders()) {
      parts.put(device, part(whole, layout, device, places));
    }
    return parts;
  }

  /**
   * Returns the part of one device, as in {@link #scatter(Tensor, Layout)}.
   *
   * @throws IllegalArgumentException if it holds nothing
   */
  public static Tensor part(Tensor whole, Layout layout, int device) {
    return part(whole, layout, device, Map.of());
  }

  private static Tensor part(Tensor whole, Layout layout, int device, Map<String, Integer> places) {
    TensorType local = layout.localType(whole.type(), device);
    for (Map.Entry<String, ReductionKind> entry : layout.partial().entrySet()) {
      String axis = entry.getKey();
      boolean keeps = layout.mesh().coordinate(device, axis) == places.getOrDefault(axis, 0);
      if (!entry.getValue().isIdempotent() && !keeps) {
        return Tensor.filled(local, 0);
      }
    }
    return cut(whole, layout, device);
  }

  private static Tensor cut(Tensor whole, Layout layout, int device) {
    TensorType local = layout.localType(whole.type(), device);
    if (local.equals(whole.type())) {
      return whole;
    }
    List<Dim> starts = new ArrayList<>();
    for (int dim = 0; dim < layout.rank(); dim++) {
      starts.add(Dim.of(layout.from(device, dim)));
    }
    List<Long> steps = Collections.nCopies(layout.rank(), 1L);
    Movement.Slice slice = new Movement.Slice(starts, local.shape().dims(), steps);
    return OpEvaluator.evaluate(slice, List.of(whole)).getFirst();
  }

  /**
   * Like {@link #assemble(SortedMap, TensorType, Layout, double)}; replicas must agree bit for bit.
   */
  public static Tensor assemble(SortedMap<Integer, Tensor> parts, TensorType type, Layout layout) {
    return assemble(parts, type, layout, 0);
  }

  /**
   * Returns the whole value: partial values are reduced in the order of devices, and split ones
   * concatenated.
   *
   * @param parts the parts by device, for each device that holds one
   * @param tolerance the largest absolute difference between replicas, of which the first one is
   *     used
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#VARYING} for a layout
   *     with varying axes, {@link MeshCode#REPLICAS_DIFFER} if replicas differ, or {@link
   *     MeshCode#LAYOUT_TYPE} if a part has another type than that of the layout, is missing, or is
   *     superfluous
   */
  public static Tensor assemble(
      SortedMap<Integer, Tensor> parts, TensorType type, Layout layout, double tolerance) {
    layout.verify(type);
    requireOne("layout " + layout, layout);
    for (int device = 0; device < layout.mesh().devices(); device++) {
      String expected =
          layout.holds(device) ? layout.localType(type, device).toString() : "nothing";
      String found = parts.containsKey(device) ? parts.get(device).type().toString() : "nothing";
      if (!found.equals(expected)) {
        throw MeshCode.LAYOUT_TYPE.at("device " + device, expected, found, "");
      }
    }
    Map<List<Integer>, Tensor> pieces = joined(replicas(parts, layout, tolerance), layout);
    return concatenated(pieces, layout, type);
  }

  /**
   * Checks that a value doesn't vary.
   *
   * @param where the location of the value
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#VARYING}
   */
  public static void requireOne(String where, Layout layout) {
    if (!layout.varying().isEmpty()) {
      throw MeshCode.VARYING.at(
          where,
          "a value that is whole, split or partial",
          "one that varies over " + layout.varying(),
          "end the variation first, with settle, and a sync of partial sums");
    }
  }

  /**
   * Returns the parts of devices whose coordinates on unused axes are 0, after checking the others.
   */
  private static Map<Integer, Tensor> replicas(
      SortedMap<Integer, Tensor> parts, Layout layout, double tolerance) {
    Mesh mesh = layout.mesh();
    Map<Integer, Tensor> firsts = new TreeMap<>();
    for (int device : parts.keySet()) {
      int[] coordinates = mesh.coordinates(device);
      for (int i = 0; i < coordinates.length; i++) {
        String axis = mesh.axes().get(i).name();
        if (!layout.uses(axis)) {
          coordinates[i] = 0;
        }
      }
      Tensor part = parts.get(device);
      Tensor first = firsts.putIfAbsent(mesh.device(coordinates), part);
      if (first != null && !agree(first, part, tolerance)) {
        throw MeshCode.REPLICAS_DIFFER.at(
            "device " + device + " of " + mesh,
            "the part of device " + mesh.device(coordinates) + " holds: " + first,
            part,
            "");
      }
    }
    return firsts;
  }

  private static boolean agree(Tensor left, Tensor right, double tolerance) {
    if (left.equals(right)) {
      return true;
    }
    for (int i = 0; i < left.size(); i++) {
      double a = left.getDouble(i);
      double b = right.getDouble(i);
      boolean same = Double.compare(a, b) == 0 || a == b && tolerance > 0;
      if (!same && !(Math.abs(a - b) <= tolerance && tolerance > 0)) {
        return false;
      }
    }
    return left.element().isFloat() || tolerance > 0;
  }

  /** Returns the parts by their number in each dimension, with partial axes reduced. */
  private static Map<List<Integer>, Tensor> joined(Map<Integer, Tensor> parts, Layout layout) {
    Map<List<Integer>, Tensor> pieces = new java.util.LinkedHashMap<>();
    parts.forEach(
        (device, part) -> {
          List<Integer> place =
              layout.splits().stream()
                  .map(split -> layout.mesh().part(device, split.axes()))
                  .toList();
          pieces.merge(place, part, (left, right) -> join(layout.reduction(), left, right));
        });
    return pieces;
  }

  /** Returns a device's elements after those of a message, each rounded to the element type. */
  public static Tensor combine(Combine combine, Tensor own, Tensor received) {
    return combine.reduction().map(kind -> join(kind, own, received)).orElse(received);
  }

  /** Reduces two terms of a partial value. */
  public static Tensor join(ReductionKind kind, Tensor left, Tensor right) {
    Elementwise.Binary binary = new Elementwise.Binary(kind.function());
    return OpEvaluator.evaluate(binary, List.of(left, right)).getFirst();
  }

  private static Tensor concatenated(
      Map<List<Integer>, Tensor> pieces, Layout layout, TensorType type) {
    Map<List<Integer>, Tensor> rest = pieces;
    for (int dim = layout.rank() - 1; dim >= 0; dim--) {
      Map<List<Integer>, List<Tensor>> rows = new java.util.LinkedHashMap<>();
      Map<List<Integer>, Tensor> sorted =
          new TreeMap<>((left, right) -> Arrays.compare(array(left), array(right)));
      sorted.putAll(rest);
      int outer = dim;
      sorted.forEach(
          (place, piece) ->
              rows.computeIfAbsent(place.subList(0, outer), key -> new ArrayList<>()).add(piece));
      Map<List<Integer>, Tensor> next = new java.util.LinkedHashMap<>();
      rows.forEach(
          (place, row) ->
              next.put(
                  place,
                  row.size() == 1
                      ? row.getFirst()
                      : OpEvaluator.evaluate(new Movement.Concat(outer), row).getFirst()));
      rest = next;
    }
    Tensor whole = rest.get(List.of());
    if (!whole.type().equals(type)) {
      throw new AssertionError(whole.type() + " is not " + type);
    }
    return whole;
  }

  private static int[] array(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }
}
