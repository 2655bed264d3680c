package io.partita.passes.program.localize;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.SyncPlan.End;
import io.partita.passes.program.localize.SyncPlan.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Divides a change of layout into stages. Partial values are reduced first, so that fewer bytes are
 * sent afterwards: along axes that then split them, along those on which one place keeps them, then
 * along the others. A single exchange along all remaining axes moves the rest. No device receives
 * more than it or, in a later stage, a device of its group needs.
 */
final class SyncPlanner {
  private final Layout from;
  private final Layout to;
  private final TensorType type;
  private final Mesh mesh;
  private final GroupExchanges exchanges;

  /** The box that each device holds so far, and the box that it needs; null if empty. */
  private final List<Box> held = new ArrayList<>();

  private final List<Box> wanted = new ArrayList<>();

  private SyncPlanner(Layout from, Layout to, TensorType type, GroupExchanges exchanges) {
    this.from = from;
    this.to = to;
    this.type = type;
    this.mesh = from.mesh();
    this.exchanges = exchanges;
    requireLowering();
    for (int device = 0; device < mesh.devices(); device++) {
      held.add(Box.of(type, from, device));
      wanted.add(isZeros(device) ? null : own(device));
    }
  }

  /**
   * @throws PartitaException with {@link MeshCode#RESHARD} if a change has no lowering
   */
  static SyncPlan plan(Layout from, Layout to, TensorType type, GroupExchanges exchanges) {
    return new SyncPlanner(from, to, type, exchanges).plan();
  }

  private SyncPlan plan() {
    List<Box> starts = new ArrayList<>(held);
    List<List<Part>> stages = new ArrayList<>();
    SortedMap<SyncStage, Set<String>> axes = SyncStage.of(new Resharding(from, to).kinds());
    Set<String> later = new LinkedHashSet<>();
    axes.values().forEach(later::addAll);
    axes.forEach(
        (stage, along) -> {
          later.removeAll(along);
          stages.add(stage(along, stage.joins() ? needs(later) : wanted, stage.joins()));
        });
    List<End> ends = new ArrayList<>();
    for (int device = 0; device < mesh.devices(); device++) {
      ends.add(end(device));
    }
    return new SyncPlan(starts, stages, ends);
  }

  /** Returns the part of a device's box that it or a later partner needs. */
  private List<Box> needs(Set<String> later) {
    Map<Integer, Box> hulls = new HashMap<>();
    for (int device = 0; device < mesh.devices(); device++) {
      int group = first(device, later);
      hulls.put(group, Box.hull(hulls.get(group), wanted.get(device)));
    }
    List<Box> needs = new ArrayList<>();
    for (int device = 0; device < mesh.devices(); device++) {
      needs.add(Box.intersection(held.get(device), hulls.get(first(device, later))));
    }
    return needs;
  }

  /**
   * Returns the first of the devices that differ from this one only in their places on these axes.
   */
  private int first(int device, Set<String> axes) {
    int[] coordinates = Arrays.copyOf(mesh.coordinates(device), mesh.axes().size());
    axes.forEach(axis -> coordinates[mesh.index(axis)] = 0);
    return mesh.device(coordinates);
  }

  private List<Part> stage(Set<String> axes, List<Box> needs, boolean joins) {
    Map<Integer, List<Integer>> groups = new LinkedHashMap<>();
    for (int device = 0; device < mesh.devices(); device++) {
      groups.computeIfAbsent(first(device, axes), key -> new ArrayList<>()).add(device);
    }
    Part[] parts = new Part[mesh.devices()];
    for (List<Integer> group : groups.values()) {
      List<Box> before = group.stream().map(held::get).toList();
      List<Box> after = group.stream().map(needs::get).toList();
      List<Part> found =
          joins
              ? exchanges.join(group, before, after, Combine.of(from.reduction()))
              : exchanges.move(group, before, after);
      for (int i = 0; i < group.size(); i++) {
        parts[group.get(i)] = found.get(i);
      }
    }
    for (int device = 0; device < parts.length; device++) {
      held.set(device, parts[device].after());
    }
    return List.of(parts);
  }

  private End end(int device) {
    Box whole = Box.of(type, to, device);
    if (whole == null) {
      return new End.Nothing();
    } else if (wanted.get(device) == null) {
      return new End.Zeros();
    } else if (!Box.contains(held.get(device), wanted.get(device))) {
      throw new AssertionError("from " + from + " to " + to + ", device " + device);
    }
    return whole.equals(wanted.get(device))
        ? new End.Keep(whole)
        : new End.Surround(wanted.get(device), whole);
  }

  /** Whether another device keeps the term of a partial sum. */
  private boolean isZeros(int device) {
    return to.partial().entrySet().stream()
        .filter(entry -> entry.getValue() == ReductionKind.SUM)
        .map(Map.Entry::getKey)
        .filter(axis -> !from.partial().containsKey(axis) && from.splitBy(axis) < 0)
        .anyMatch(axis -> mesh.coordinate(device, axis) != from.at().getOrDefault(axis, 0));
  }

  /**
   * Returns the box that a device needs apart from zeros. A part that becomes a partial sum stays
   * in place, surrounded by zeros.
   */
  private Box own(int device) {
    Box box = Box.of(type, to, device);
    for (String axis : to.partial().keySet()) {
      int dim = from.splitBy(axis);
      if (dim >= 0 && box != null) {
        Split split = from.splits().get(dim);
        int part = mesh.part(device, split.axes());
        box = Box.intersection(box, box.with(dim, split.from(part), split.to(part)));
      }
    }
    return box;
  }

  /** Checks that a part that becomes a partial value can have zeros around it. */
  private void requireLowering() {
    for (String axis : to.partial().keySet()) {
      int dim = from.splitBy(axis);
      boolean hasLowering =
          dim < 0
              || to.reduction() == ReductionKind.SUM
                  && to.splits().get(dim).isNone()
                  && to.partial().keySet().containsAll(from.splits().get(dim).axes());
      if (!hasLowering) {
        throw new PartitaException(
            MeshCode.RESHARD,
            "layout " + from,
            "a layout other than one in which a part of dimension " + dim + " becomes partial",
            to.toString(),
            "gather the parts first");
      }
    }
  }
}
