package io.partita.ir.mesh;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The distribution of a tensor over a mesh. Each mesh axis has one of four effects: it splits a
 * dimension; the devices along it hold terms that are still to be reduced (partial); only the
 * devices at one coordinate hold the tensor (at); or, if the layout doesn't name the axis, all
 * devices along it hold the same (replicated).
 *
 * <p>The tensor may also vary over an axis: each place on the axis then has a version of its own. A
 * device holds its version whole; or only its part, if the axis splits a dimension; or only its
 * term, if the value is partial over the axis. No device holds the other parts and terms of a
 * version, so only an {@link Exit} ends the variation.
 *
 * @param splits the split of each dimension
 * @param partial the reduction of the terms along each partial axis, in the mesh's order of axes
 * @param varying the axes over which it varies, in the mesh's order
 * @param at the coordinate of the devices that hold the tensor, by axis, in the mesh's order
 */
public record Layout(
    Mesh mesh,
    List<Split> splits,
    Map<String, ReductionKind> partial,
    List<String> varying,
    Map<String, Integer> at) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT} when an axis
   *     isn't in the mesh or has two effects, the number of parts of a split isn't the number of
   *     places on its axes, a coordinate isn't on its axis, or a tensor at one place varies
   */
  public Layout {
    splits = List.copyOf(splits);
    Map<String, ReductionKind> ordered = new LinkedHashMap<>();
    List<String> orderedVarying = new ArrayList<>();
    Map<String, Integer> orderedAt = new LinkedHashMap<>();
    for (MeshAxis axis : mesh.axes()) {
      if (partial.containsKey(axis.name())) {
        ReductionKind kind = partial.get(axis.name());
        require(kind.joinsTerms(), "a partial sum, max or min", kind.text());
        ordered.put(axis.name(), kind);
      }
      if (varying.contains(axis.name())) {
        orderedVarying.add(axis.name());
      }
      if (at.containsKey(axis.name())) {
        int place = at.get(axis.name());
        require(place >= 0 && place < axis.size(), "a coordinate on " + axis, place);
        orderedAt.put(axis.name(), place);
      }
    }
    Set<String> used = new HashSet<>();
    List<String> all = new ArrayList<>(partial.keySet());
    all.addAll(at.keySet());
    splits.forEach(split -> all.addAll(split.axes()));
    for (String axis : all) {
      require(mesh.has(axis), "an axis of " + mesh, axis);
      require(used.add(axis), "each axis once", axis);
    }
    Set<String> varied = new HashSet<>();
    for (String axis : varying) {
      require(mesh.has(axis), "an axis of " + mesh, axis);
      require(varied.add(axis) && !at.containsKey(axis), "each axis once", axis);
    }
    for (Split split : splits) {
      if (!split.isNone()) {
        int parts = mesh.size(split.axes());
        require(split.parts() == parts, parts + " parts over " + split.axes(), split.parts());
      }
    }
    require(new HashSet<>(ordered.values()).size() <= 1, "one kind of reduction", ordered);
    partial = Collections.unmodifiableMap(ordered);
    varying = List.copyOf(orderedVarying);
    at = Collections.unmodifiableMap(orderedAt);
  }

  /** Creates a layout on all devices. */
  public Layout(
      Mesh mesh, List<Split> splits, Map<String, ReductionKind> partial, List<String> varying) {
    this(mesh, splits, partial, varying, Map.of());
  }

  private static void require(boolean condition, String expected, Object found) {
    if (!condition) {
      throw MeshCode.LAYOUT.at("layout", expected, found, "");
    }
  }

  /** Returns the layout in which every device holds the whole tensor. */
  public static Layout replicated(Mesh mesh, int rank) {
    return new Layout(mesh, Collections.nCopies(rank, Split.NONE), Map.of(), List.of());
  }

  public static Layout of(Mesh mesh, Split... splits) {
    return new Layout(mesh, List.of(splits), Map.of(), List.of());
  }

  public Layout with(int dim, Split split) {
    List<Split> changed = new ArrayList<>(splits);
    changed.set(dim, split);
    return new Layout(mesh, changed, partial, varying, at);
  }

  public Layout with(List<Split> changed) {
    return new Layout(mesh, changed, partial, varying, at);
  }

  public Layout withPartial(String axis, ReductionKind kind) {
    Map<String, ReductionKind> changed = new LinkedHashMap<>(partial);
    changed.put(axis, kind);
    return new Layout(mesh, splits, changed, varying, at);
  }

  public Layout withPartial(Map<String, ReductionKind> changed) {
    return new Layout(mesh, splits, changed, varying, at);
  }

  /**
   * Returns the layout in which only the first {@code count} axes of a dimension split it, and the
   * value is a partial sum over the others.
   */
  public Layout withSummed(int dim, int count) {
    Split split = splits.get(dim);
    Map<String, ReductionKind> changed = new LinkedHashMap<>(partial);
    split
        .axes()
        .subList(count, split.axes().size())
        .forEach(axis -> changed.put(axis, ReductionKind.SUM));
    return with(dim, split.major(mesh, count)).withPartial(changed);
  }

  public Layout withVarying(List<String> changed) {
    return new Layout(mesh, splits, partial, changed, at);
  }

  /** Returns the layout that also varies over an axis. */
  public Layout withVarying(String axis) {
    List<String> changed = new ArrayList<>(varying);
    if (!changed.contains(axis)) {
      changed.add(axis);
    }
    return withVarying(changed);
  }

  /** Returns the layout of a tensor at one coordinate of an axis. */
  public Layout withAt(String axis, int place) {
    Map<String, Integer> changed = new LinkedHashMap<>(at);
    changed.put(axis, place);
    return new Layout(mesh, splits, partial, varying, changed);
  }

  public Layout withAt(Map<String, Integer> changed) {
    return new Layout(mesh, splits, partial, varying, changed);
  }

  /**
   * Parses the text of {@link #toString}, for a tensor of this shape.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}, or as the
   *     constructor
   */
  public static Layout parse(String text, Mesh mesh, Shape shape) {
    return new LayoutReader(text, mesh).read(shape);
  }

  public int rank() {
    return splits.size();
  }

  public boolean isReplicated() {
    return partial.isEmpty()
        && varying.isEmpty()
        && at.isEmpty()
        && splits.stream().allMatch(Split::isNone);
  }

  /** Whether nothing is left to be reduced, and nothing varies. */
  public boolean isJoined() {
    return partial.isEmpty() && varying.isEmpty();
  }

  /** Returns the dimension that an axis splits, or -1. */
  public int splitBy(String axis) {
    for (int dim = 0; dim < splits.size(); dim++) {
      if (splits.get(dim).axes().contains(axis)) {
        return dim;
      }
    }
    return -1;
  }

  /**
   * Checks that this can be a layout of {@code type}.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TYPE} or {@link
   *     MeshCode#UNBOUND}
   */
  public void verify(TensorType type) {
    if (type.rank() != rank()) {
      throw MeshCode.LAYOUT_TYPE.at("layout", rank() + " dimensions", type, "");
    }
    if (partial.containsValue(ReductionKind.SUM) && type.element() == ElementType.BOOL) {
      throw MeshCode.LAYOUT_TYPE.at("layout " + this, "numbers to sum", type, "");
    }
    for (int dim = 0; dim < rank(); dim++) {
      Split split = splits.get(dim);
      if (!split.isNone() && !type.dim(dim).isStatic()) {
        throw MeshCode.UNBOUND.at(
            "dimension " + dim, "a number", type, "bind its symbols, such as --dim seq=128");
      }
      if (!split.isNone() && !type.dim(dim).is(split.extent())) {
        throw MeshCode.LAYOUT_TYPE.at("dimension " + dim, "extent " + split.extent(), type, "");
      }
    }
  }

  /** Whether the devices along an axis hold different data. */
  public boolean uses(String axis) {
    return partial.containsKey(axis)
        || varying.contains(axis)
        || at.containsKey(axis)
        || splitBy(axis) >= 0;
  }

  /** Whether a device holds any of the tensor. */
  public boolean holds(int device) {
    return at.entrySet().stream()
        .allMatch(entry -> mesh.coordinate(device, entry.getKey()) == entry.getValue());
  }

  /** Returns the devices that hold any of the tensor, in ascending order. */
  public List<Integer> holders() {
    return IntStream.range(0, mesh.devices()).filter(this::holds).boxed().toList();
  }

  /** Returns the first index of a device's part of a dimension. */
  public long from(int device, int dim) {
    Split split = splits.get(dim);
    return split.isNone() ? 0 : split.from(mesh.part(device, split.axes()));
  }

  /**
   * Returns the type of a device's part of a tensor of {@code type}.
   *
   * @throws IllegalArgumentException if it holds nothing
   */
  public TensorType localType(TensorType type, int device) {
    if (!holds(device)) {
      throw new IllegalArgumentException("device " + device + " holds nothing of " + this);
    }
    List<Dim> dims = new ArrayList<>();
    for (int dim = 0; dim < rank(); dim++) {
      Split split = splits.get(dim);
      dims.add(
          split.isNone() ? type.dim(dim) : Dim.of(split.size(mesh.part(device, split.axes()))));
    }
    return type.with(new Shape(dims));
  }

  /** Returns the bytes of a tensor of {@code type} on each device. */
  public List<Long> bytes(TensorType type) {
    List<Long> bytes = new ArrayList<>();
    for (int device = 0; device < mesh.devices(); device++) {
      bytes.add(holds(device) ? localType(type, device).bytes() : 0);
    }
    return bytes;
  }

  /** Returns the number of devices that hold each part. */
  public int replication() {
    int replication = 1;
    for (MeshAxis axis : mesh.axes()) {
      replication *= uses(axis.name()) ? 1 : axis.size();
    }
    return replication;
  }

  /** Returns the reduction of the partial axes. */
  public ReductionKind reduction() {
    return partial.values().iterator().next();
  }

  /** Like {@link ShardedType#toString}, without the type: {@code [·,{x}] partial(sum: y)}. */
  @Override
  public String toString() {
    return LayoutText.print(this);
  }
}
