package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Communication.Gate;
import io.partita.ir.op.Op;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Legalizes one device of each role, and gives the others its graph with their own exchanges, which
 * has the right shapes but the wrong weights. Devices with guarded regions keep their own
 * constants, on which depends what they skip.
 */
public final class RoleLegalization {
  private RoleLegalization() {}

  /**
   * Like {@link Legalization#legalize(Program, long, boolean)}, for purposes that depend on shapes
   * only.
   */
  public static Program legalize(Program program, long workingBytes, boolean isPaged) {
    Module[] legal = new Module[program.devices().size()];
    for (Role role : Roles.of(program)) {
      Module first = program.devices().get(role.devices().getFirst());
      Module legalFirst = Legalization.legalize(first, workingBytes, isPaged);
      boolean keepsExchanges = exchanges(legalFirst.graph()).equals(exchanges(first.graph()));
      boolean isShared = keepsExchanges && !isGuarded(first.graph());
      for (int device : role.devices()) {
        Module own = program.devices().get(device);
        if (own == first) {
          legal[device] = legalFirst;
        } else if (isShared) {
          legal[device] = own.with(with(legalFirst.graph(), exchanges(own.graph())));
        } else {
          legal[device] = Legalization.legalize(own, workingBytes, isPaged);
        }
      }
    }
    return new Program(program.mesh(), Arrays.asList(legal), program.inputs(), program.outputs());
  }

  private static boolean isGuarded(Graph graph) {
    return graph.nodes().stream().anyMatch(node -> node.op() instanceof Gate);
  }

  private static List<Op> exchanges(Graph graph) {
    return graph.nodes().stream().map(Node::op).filter(Exchange.class::isInstance).toList();
  }

  private static Graph with(Graph graph, List<Op> exchanges) {
    Iterator<Op> own = exchanges.iterator();
    GraphBuilder builder = new GraphBuilder(graph.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    for (Value input : graph.inputs()) {
      copies.put(input, builder.input(input.name(), input.type()));
    }
    for (Node node : graph.nodes()) {
      List<Value> operands = new ArrayList<>();
      node.operands().forEach(operand -> operands.add(copies.get(operand)));
      Op op = node.op() instanceof Exchange ? own.next() : node.op();
      Node copy = builder.at(node).addNode(op, operands);
      for (int i = 0; i < copy.results().size(); i++) {
        copies.put(node.results().get(i), copy.results().get(i));
      }
    }
    graph.outputs().forEach(output -> builder.output(output.name(), copies.get(output.value())));
    return builder.finish();
  }
}
