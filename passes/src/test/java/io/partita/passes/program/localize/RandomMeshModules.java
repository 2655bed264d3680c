package io.partita.passes.program.localize;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Random modules that change the layout of an input, or of a sum or maximum of it, a few times. */
final class RandomMeshModules {
  private final SplittableRandom random;
  private final Mesh mesh;
  private final ReductionKind kind;
  private final GraphBuilder builder = new GraphBuilder("changes");
  private final Map<String, Layout> inputs = new TreeMap<>();
  private Layout layout;

  private RandomMeshModules(SplittableRandom random, Mesh mesh) {
    this.random = random;
    this.mesh = mesh;
    this.kind = List.of(ReductionKind.values()).get(random.nextInt(3));
  }

  /** Returns a module with input x of i32 and output y. */
  static Module draw(SplittableRandom random, Mesh mesh) {
    return new RandomMeshModules(random, mesh).draw();
  }

  private Module draw() {
    Value value = source();
    List<Long> extents = new ArrayList<>();
    for (long extent : value.type().shape().extents()) {
      extents.add(extent);
    }
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      Layout to = RandomLayouts.layout(random, mesh, extents, List.of(kind));
      if (isPossible(to)) {
        value = builder.add(change(to), value);
        layout = to;
      }
    }
    builder.output("y", value);
    return new Module(builder.finish(), List.of(), Optional.of(new Placement(mesh, inputs)));
  }

  private boolean isPossible(Layout to) {
    try {
      return new Resharding(layout, to).from().equals(layout);
    } catch (PartitaException e) {
      return false;
    }
  }

  private Communication.Relayout change(Layout to) {
    Communication.Relayout change = Communication.Relayout.of(layout, to);
    if (!(change instanceof Communication.Sync sync)) {
      return change;
    }
    return switch (random.nextInt(4)) {
      case 0 -> sync.with(new Algorithm.Tree(random.nextInt(2, mesh.devices() + 2)));
      case 1 -> sync.with(new Algorithm.Ring());
      case 2 -> sync.with(new Algorithm.Direct());
      default -> sync;
    };
  }

  /** Returns the layout of a reduction, which is partial if the reduced dimension was split. */
  private Value source() {
    boolean reduces = random.nextInt(3) > 0;
    List<Long> extents = new ArrayList<>();
    for (int rank = random.nextInt(1, 4); rank > 0; rank--) {
      // A dimension of one element is no factor of a reduction.
      extents.add(random.nextLong(reduces ? 2 : 1, 7));
    }
    TensorType type =
        TensorType.of(ElementType.I32, extents.stream().mapToLong(Long::longValue).toArray());
    layout = RandomLayouts.whole(random, mesh, extents);
    inputs.put("x", layout);
    Value x = builder.input("x", type);
    int axis = random.nextInt(extents.size());
    if (!reduces) {
      return x;
    }
    Split split = layout.splits().get(axis);
    layout = layout.with(axis, Split.NONE);
    split.axes().forEach(name -> layout = layout.withPartial(name, kind));
    return builder.add(new Reduction.Reduce(kind, List.of(axis), true), x);
  }
}
