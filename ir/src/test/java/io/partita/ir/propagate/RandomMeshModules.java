package io.partita.ir.propagate;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Valid modules of the mesh dialect drawn from a seed. */
public final class RandomMeshModules {
  private RandomMeshModules() {}

  public static Module draw(long seed) {
    LayoutPlan plan = RandomPlans.draw(seed);
    Draw draw = new Draw(~seed);
    Module module = SyncInsertion.insert(plan, states(draw, plan.graph()));
    return module.with(algorithms(draw, module.graph()));
  }

  private static List<Module.State> states(Draw draw, Graph graph) {
    List<Module.State> states = new ArrayList<>();
    for (Value input : graph.inputs()) {
      Graph.Output output = draw.one(graph.outputs());
      boolean isFree = states.stream().noneMatch(state -> state.output().equals(output.name()));
      if (isFree && output.value().type().equals(input.type())) {
        states.add(new Module.State(input.name(), output.name()));
      }
    }
    return states;
  }

  private static Graph algorithms(Draw draw, Graph graph) {
    GraphBuilder builder = new GraphBuilder(draw.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    graph.inputs().forEach(x -> copies.put(x, builder.input(x.name(), x.type())));
    for (Node node : graph.nodes()) {
      Op op = node.op();
      if (op instanceof Communication.Sync sync && draw.flag()) {
        Algorithm tree = new Algorithm.Tree(draw.from(2, 9));
        op = sync.with(draw.one(tree, new Algorithm.Ring(), new Algorithm.Direct()));
      }
      List<Value> operands = node.operands().stream().map(copies::get).toList();
      Node copy = builder.at(draw.oneIn(4) ? draw.name() : "").addNode(op, operands);
      for (int i = 0; i < copy.results().size(); i++) {
        copies.put(node.results().get(i), copy.results().get(i));
      }
    }
    graph.outputs().forEach(y -> builder.output(y.name(), copies.get(y.value())));
    return builder.finish();
  }
}
