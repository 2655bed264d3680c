package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The mesh of a strategy for a model, and the splits of extents on it. The devices that share the
 * weights of a model form one axis, {@code head}, or, if they outnumber the kv heads, two axes,
 * {@code kv} and {@code group}: the query heads of a kv head are then split further, and its keys
 * and values are on each device of the group. {@code inside} splits single heads.
 *
 * @param stage the axis of the pipeline, or empty
 * @param token the axis of the sequence, or empty
 * @param heads the axes that split kv heads and, if there are two, their groups
 * @param inside the axis that splits the features of a head, or empty
 */
record StrategyMesh(
    Mesh mesh,
    String stage,
    String token,
    List<String> heads,
    String inside,
    List<Long> capacities) {
  /** The heads of an attention, with the number of query heads per kv head. */
  private record Heads(long kv, long group) {}

  static StrategyMesh of(Strategy strategy, Graph graph) {
    List<MeshAxis> axes = new ArrayList<>();
    List<String> heads = new ArrayList<>();
    String inside = "";
    for (Strategy.Part part : strategy.parts()) {
      switch (part.kind()) {
        case PIPELINE -> axes.add(new MeshAxis("stage", part.devices()));
        case SEQUENCE -> axes.add(new MeshAxis("token", part.devices()));
        case TENSOR -> {
          int devices = part.devices() / strategy.inside();
          int group = strategy.capacities().isEmpty() ? group(devices, heads(graph)) : 1;
          if (group == 1 || group == devices) {
            heads.add("head");
            axes.add(new MeshAxis("head", devices));
          } else {
            heads.addAll(List.of("kv", "group"));
            axes.add(new MeshAxis("kv", devices / group));
            axes.add(new MeshAxis("group", group));
          }
          if (strategy.inside() > 1) {
            inside = "inside";
            axes.add(new MeshAxis(inside, strategy.inside()));
          }
        }
      }
    }
    Mesh mesh = new Mesh(axes);
    return new StrategyMesh(
        mesh,
        mesh.has("stage") ? "stage" : "",
        mesh.has("token") ? "token" : "",
        heads,
        inside,
        strategy.capacities());
  }

  private static Set<Heads> heads(Graph graph) {
    Set<Heads> heads = new LinkedHashSet<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention && node.operand(0).type().isStatic()) {
        long kv = node.operand(1).type().dim(1).value();
        heads.add(new Heads(kv, node.operand(0).type().dim(1).value() / Math.max(1, kv)));
      }
    }
    return heads;
  }

  /**
   * Returns the number of devices over which the group of a kv head is split: the smallest one that
   * minimises the largest number of heads of a device, because keys and values are on all devices
   * of a group.
   */
  private static int group(int devices, Set<Heads> heads) {
    return IntStream.rangeClosed(1, devices)
        .filter(group -> devices % group == 0)
        .filter(group -> group == 1 || heads.stream().allMatch(h -> h.kv() <= devices / group))
        .boxed()
        .min(java.util.Comparator.comparingLong(group -> most(heads, devices / group, group)))
        .orElse(1);
  }

  private static long most(Set<Heads> heads, long kv, long group) {
    return heads.stream()
        .mapToLong(h -> Math.ceilDiv(h.kv(), kv) * Math.ceilDiv(h.group(), group))
        .sum();
  }

  /** Returns all axes that split weights. */
  List<String> tensor() {
    List<String> axes = new ArrayList<>(heads);
    if (!inside.isEmpty()) {
      axes.add(inside);
    }
    return axes;
  }

  /**
   * Splits tokens over all axes of weights, within the parts of the axis that splits tokens if
   * there is one.
   */
  Split tokens(long extent) {
    if (!splitsTokens()) {
      return Split.even(mesh, extent, 1, tensor());
    }
    Split outer = Split.even(mesh, extent, token);
    List<String> axes = new ArrayList<>(List.of(token));
    axes.addAll(tensor());
    List<Long> sizes = new ArrayList<>();
    for (int part = 0; part < outer.parts(); part++) {
      Split inner = Split.even(mesh, outer.size(part), 1, tensor());
      for (int i = 0; i < inner.parts(); i++) {
        sizes.add(inner.size(i));
      }
    }
    return Split.sizes(axes, sizes);
  }

  /** Whether weights are split. */
  boolean splitsWeights() {
    return mesh.size(tensor()) > 1;
  }

  boolean splitsTokens() {
    return !token.isEmpty() && mesh.size(token) > 1;
  }

  /** Splits an extent over all axes of weights, between units. */
  Split weights(long extent, long unit) {
    return cut(extent, unit, tensor());
  }

  /** Splits heads, {@code group} of which use one kv head; empty if they can't be split. */
  Split heads(long queryHeads, long group) {
    long kv = queryHeads / group;
    boolean two = heads.size() == 2;
    if (!two && kv == 1) {
      return group == 1 ? Split.NONE : cut(group, 1, heads);
    }
    Split kvHeads = cut(kv, 1, heads.subList(0, 1));
    if (!two) {
      return kvHeads.times(group);
    }
    return nest(kvHeads, Split.even(mesh, group, 1, heads.subList(1, 2)), group);
  }

  /** Splits the features of heads of {@code size}, between heads and then inside them. */
  Split features(Split heads, long size) {
    return inside.isEmpty()
        ? heads.times(size)
        : nest(heads, Split.even(mesh, size, 1, List.of(inside)), size);
  }

  /** Splits each unit of {@code major}, of {@code extent}, like {@code minor}. */
  private static Split nest(Split major, Split minor, long extent) {
    List<String> axes = new ArrayList<>(major.axes());
    axes.addAll(minor.axes());
    List<Long> sizes = new ArrayList<>();
    for (int part = 0; part < major.parts(); part++) {
      for (int inner = 0; inner < minor.parts(); inner++) {
        sizes.add(major.size(part) == 0 ? 0 : minor.size(inner) * major.size(part));
      }
    }
    if (major.extent() * extent != sizes.stream().mapToLong(size -> size).sum()) {
      throw new IllegalArgumentException(major + " isn't cut into units");
    }
    return Split.sizes(axes, sizes);
  }

  private Split cut(long extent, long unit, List<String> axes) {
    return capacities.isEmpty()
        ? Split.even(mesh, extent, unit, axes)
        : proportional(extent, unit, axes);
  }

  /**
   * Distributes units in proportion to capacities: each part gets the whole units of its share, and
   * the rest goes to the largest remainders.
   */
  private Split proportional(long extent, long unit, List<String> axes) {
    long units = Math.ceilDiv(extent, unit);
    double total = capacities.stream().mapToDouble(capacity -> capacity).sum();
    List<Long> counts = new ArrayList<>();
    for (long capacity : capacities) {
      counts.add((long) Math.floor(units * (capacity / total)));
    }
    while (counts.stream().mapToLong(count -> count).sum() < units) {
      int most = 0;
      for (int part = 1; part < counts.size(); part++) {
        if (missing(part, units, total, counts) > missing(most, units, total, counts)) {
          most = part;
        }
      }
      counts.set(most, counts.get(most) + 1);
    }
    List<Long> sizes = new ArrayList<>();
    long rest = extent;
    for (long count : counts) {
      sizes.add(Math.min(rest, count * unit));
      rest -= sizes.getLast();
    }
    return Split.sizes(axes, sizes);
  }

  private double missing(int part, long units, double total, List<Long> counts) {
    return units * (capacities.get(part) / total) - counts.get(part);
  }
}
