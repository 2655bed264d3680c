package io.partita.passes.program.localize;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Random meshes and layouts, with splits over several axes and uneven and empty parts. */
final class RandomLayouts {
  private RandomLayouts() {}

  static Mesh mesh(SplittableRandom random) {
    List<MeshAxis> axes = new ArrayList<>();
    int count = random.nextInt(1, 4);
    for (String name : List.of("x", "y", "z").subList(0, count)) {
      axes.add(new MeshAxis(name, random.nextInt(1, count == 1 ? 7 : 4)));
    }
    return new Mesh(axes);
  }

  /** Returns a layout without partial and varying axes for a tensor of the extents. */
  static Layout whole(SplittableRandom random, Mesh mesh, List<Long> extents) {
    return layout(random, mesh, extents, List.of());
  }

  /** Returns a layout whose axes each split a dimension, are at a place, are partial, or unused. */
  static Layout layout(
      SplittableRandom random, Mesh mesh, List<Long> extents, List<ReductionKind> kinds) {
    Map<Integer, List<String>> splits = new TreeMap<>();
    Map<String, ReductionKind> partial = new TreeMap<>();
    Map<String, Integer> at = new TreeMap<>();
    List<String> names = new ArrayList<>(mesh.axes().stream().map(MeshAxis::name).toList());
    if (random.nextBoolean()) {
      Collections.reverse(names);
    }
    for (String axis : names) {
      switch (random.nextInt(6)) {
        case 0, 1, 2 -> {
          if (!extents.isEmpty()) {
            int dim = random.nextInt(extents.size());
            splits.computeIfAbsent(dim, key -> new ArrayList<>()).add(axis);
          }
        }
        case 3 -> at.put(axis, random.nextInt(mesh.size(axis)));
        case 4 -> {
          if (!kinds.isEmpty()) {
            partial.put(axis, kinds.getFirst());
          }
        }
        default -> {}
      }
    }
    List<Split> all = new ArrayList<>(Collections.nCopies(extents.size(), Split.NONE));
    splits.forEach((dim, axes) -> all.set(dim, split(random, mesh, extents.get(dim), axes)));
    return new Layout(mesh, all, partial, List.of(), at);
  }

  static Split split(SplittableRandom random, Mesh mesh, long extent, List<String> axes) {
    if (random.nextInt(3) > 0) {
      return Split.even(mesh, extent, random.nextInt(1, 3), axes);
    }
    List<Long> cuts = new ArrayList<>(List.of(0L, extent));
    for (int part = 1; part < mesh.size(axes); part++) {
      cuts.add(random.nextLong(extent + 1));
    }
    Collections.sort(cuts);
    return new Split(axes, cuts);
  }
}
