package io.partita.ir.propagate;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Random valid modules of the mesh dialect. */
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

  /**
   * Returns an equivalent module with varying values: some terms of sums and some parts of split
   * values become a version per device.
   */
  public static Module varying(Module module, long seed) {
    Draw draw = new Draw(seed);
    LayoutInference layouts = LayoutInference.of(module);
    GraphBuilder builder = new GraphBuilder(module.graph().name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    module.graph().inputs().forEach(x -> copies.put(x, builder.input(x.name(), x.type())));
    for (Node node : module.graph().nodes()) {
      List<Value> operands = node.operands().stream().map(copies::get).toList();
      List<Value> results = builder.at(node.name()).addNode(node.op(), operands).results();
      for (int i = 0; i < results.size(); i++) {
        Value value = node.results().get(i);
        Layout layout = layouts.layout(value);
        copies.put(
            value, draw.flag() ? throughVersions(results.get(i), layout, builder) : results.get(i));
      }
    }
    module.graph().outputs().forEach(y -> builder.output(y.name(), copies.get(y.value())));
    return module.with(builder.finish());
  }

  private static Value throughVersions(Value value, Layout layout, GraphBuilder graph) {
    for (int dim = 0; dim < layout.rank(); dim++) {
      if (value.type().dim(dim).is(1) && !layout.splits().get(dim).isNone()) {
        return value; // factor rules know nothing of dimensions of extent 1
      }
    }
    Value same = value;
    for (Map.Entry<String, ReductionKind> partial : layout.partial().entrySet()) {
      if (partial.getValue() == ReductionKind.SUM) {
        same = graph.add(new Communication.Localize(partial.getKey()), same);
        same = twiceNegative(same, graph);
        same = graph.add(new Communication.Settle(partial.getKey(), new Exit.Term()), same);
      }
    }
    for (int dim = 0; dim < layout.rank(); dim++) {
      List<String> axes = layout.splits().get(dim).axes();
      Layout gathered = layout.with(dim, Split.NONE);
      if (axes.size() == 1) {
        Value whole = graph.add(Communication.Relayout.of(layout, gathered), same);
        same = graph.add(new Communication.Overlay(axes.getFirst(), dim), whole, same);
        same = twiceNegative(same, graph);
        Layout cut = layout.withVarying(axes.getFirst());
        same = graph.add(new Communication.Reshard(cut), same);
        same = graph.add(new Communication.Settle(axes.getFirst(), new Exit.Part()), same);
      }
    }
    return same;
  }

  private static Value twiceNegative(Value value, GraphBuilder graph) {
    if (!value.type().element().isFloat()) {
      return value;
    }
    Op negative = new Elementwise.Unary(UnaryFunction.NEG);
    return graph.add(negative, graph.add(negative, value));
  }
}
