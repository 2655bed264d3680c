package io.partita.ir.propagate;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Random graphs with random layouts of some values. */
public final class RandomPlans {
  private RandomPlans() {}

  public static LayoutPlan draw(long seed) {
    Draw draw = new Draw(seed);
    Graph graph = graph(draw);
    Mesh mesh = mesh(draw);
    return LayoutPropagation.run(graph, mesh, pinned(draw, graph, mesh));
  }

  static Mesh mesh(Draw draw) {
    return Mesh.of(new MeshAxis("x", draw.from(2, 4)), new MeshAxis("y", draw.from(1, 2)));
  }

  static Map<Value, Layout> pinned(Draw draw, Graph graph, Mesh mesh) {
    Map<Value, Layout> pinned = new HashMap<>();
    List<Value> values = new ArrayList<>(graph.inputs());
    graph.nodes().forEach(node -> values.addAll(node.results()));
    for (int i = draw.from(1, 3); i > 0; i--) {
      Value value = draw.one(values);
      pinned.put(value, layout(draw, mesh, value.type()));
    }
    return pinned;
  }

  private static Layout layout(Draw draw, Mesh mesh, TensorType type) {
    Layout layout = Layout.replicated(mesh, type.rank());
    for (MeshAxis axis : mesh.axes()) {
      int dim = draw.from(-1, type.rank() - 1);
      if (dim >= 0 && layout.splits().get(dim).isNone()) {
        layout = layout.with(dim, Split.even(mesh, type.dim(dim).value(), axis.name()));
      } else if (draw.oneIn(3)) {
        layout = layout.withAt(axis.name(), draw.from(0, axis.size() - 1));
      }
    }
    return layout;
  }

  /** Uses operations on i32, whose sums are exact, and their conversions. */
  static Graph graph(Draw draw) {
    GraphBuilder builder = new GraphBuilder("random");
    List<Value> values = new ArrayList<>();
    Set<Value> read = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 10; i++) {
      Class<? extends Op> kind = draw.one(OpSamples.kinds());
      if (Movement.class.isAssignableFrom(kind)
              && kind.getSimpleName().matches("(Gather|Scatter).*")
          || kind == Structured.Embedding.class) {
        continue;
      }
      OpSample sample = SampleValues.draw(kind, draw);
      boolean narrow =
          sample.operands().stream()
              .anyMatch(t -> t.element().isFloat() && t.element() != ElementType.F32);
      if (narrow || sample.op() instanceof Source) {
        continue;
      }
      List<Value> operands = new ArrayList<>();
      for (TensorType type : sample.operands()) {
        List<Value> alike = values.stream().filter(value -> value.type().equals(type)).toList();
        operands.add(
            alike.isEmpty() || draw.oneIn(4)
                ? builder.input("x" + values.size() + operands.size(), type)
                : draw.one(alike));
      }
      values.addAll(operands);
      read.addAll(operands);
      values.addAll(builder.addNode(sample.op(), operands).results());
    }
    if (values.isEmpty()) {
      values.add(builder.input("x", TensorType.of(ElementType.I32, 3, 4)));
    }
    for (int i = 0; i < values.size(); i++) {
      if (!read.contains(values.get(i)) || draw.flag()) {
        builder.output("y" + i, values.get(i));
      }
    }
    return builder.finish();
  }
}
