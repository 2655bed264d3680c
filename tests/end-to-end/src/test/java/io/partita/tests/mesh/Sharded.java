package io.partita.tests.mesh;

import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.SyncInsertion;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a module on devices in a line: attention by whole kv heads, networks by inner features. */
final class Sharded implements ModuleRunner {
  static final String AXIS = "chips";

  private final Mesh mesh;
  private LayoutPlan plan;

  Sharded(int devices) {
    mesh = Mesh.line(AXIS, devices);
  }

  LayoutPlan plan() {
    return plan;
  }

  @Override
  public Prepared prepare(Module module) {
    plan = LayoutPropagation.run(module.graph(), mesh, pinned(module.graph()));
    Module placed = SyncInsertion.insert(plan, module.states());
    return inputs -> MeshEvaluator.run(placed, inputs);
  }

  private Map<Value, Layout> pinned(Graph graph) {
    Map<Value, Layout> pinned = new HashMap<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        Value q = node.operand(0);
        long heads = q.type().dim(1).value();
        long group = heads / node.operand(1).type().dim(1).value();
        pinned.put(q, split(q, 1, group));
      } else if (node.op() instanceof Structured.Ffn) {
        pinned.put(node.operand(1), split(node.operand(1), 1, 1));
      }
    }
    return pinned;
  }

  private Layout split(Value value, int dim, long unit) {
    Split split = Split.even(mesh, value.type().dim(dim).value(), unit, List.of(AXIS));
    return Layout.replicated(mesh, value.type().rank()).with(dim, split);
  }

  /** How many attentions the module has. */
  long attentions() {
    return plan.graph().nodes().stream()
        .filter(node -> node.op() instanceof Structured.Attention)
        .count();
  }
}
