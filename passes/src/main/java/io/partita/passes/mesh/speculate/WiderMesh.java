package io.partita.passes.mesh.speculate;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.op.Communication.Relayout;
import io.partita.ir.op.Communication.Reshard;
import io.partita.ir.op.Communication.Sync;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A mesh with one more axis, along which devices hold copies of what they held before.
 *
 * @param mesh the wider mesh; its first axis is the new one
 * @param before the placement on the old mesh, if there was one
 */
record WiderMesh(Mesh mesh, Optional<Placement> before) {
  static WiderMesh of(Module module, String axis, int places) {
    List<MeshAxis> axes = new ArrayList<>(List.of(new MeshAxis(axis, places)));
    module.placement().ifPresent(placement -> axes.addAll(placement.mesh().axes()));
    return new WiderMesh(new Mesh(axes), module.placement());
  }

  Layout layout(Layout old) {
    return new Layout(mesh, old.splits(), old.partial(), old.varying(), old.at());
  }

  Placement placement(List<Value> inputs) {
    Map<String, Layout> layouts = new TreeMap<>();
    before.ifPresent(
        placement ->
            inputs.forEach(input -> layouts.put(input.name(), layout(placement.layout(input)))));
    return new Placement(mesh, layouts);
  }

  /** The same change of layout, of a value that may vary over the new axis. */
  Relayout change(Relayout old, Optional<String> varying) {
    Layout copies = layout(old.to());
    Layout to = varying.map(copies::withVarying).orElse(copies);
    return switch (old) {
      case Reshard reshard -> new Reshard(to);
      case Sync sync -> new Sync(sync.kinds(), to, sync.algorithm(), sync.codec());
    };
  }
}
