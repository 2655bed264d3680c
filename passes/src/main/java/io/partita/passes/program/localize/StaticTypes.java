package io.partita.passes.program.localize;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.MeshCode;
import java.util.ArrayList;
import java.util.List;

/** Checks that all shapes are static. */
final class StaticTypes {
  private StaticTypes() {}

  static void require(Graph graph) {
    List<Diagnostic> open = new ArrayList<>();
    for (Value input : graph.inputs()) {
      require("input \"" + input.name() + "\"", input, open);
    }
    for (Node node : graph.nodes()) {
      node.results().forEach(result -> require("node " + node, result, open));
    }
    if (!open.isEmpty()) {
      throw new PartitaException(open);
    }
  }

  private static void require(String where, Value value, List<Diagnostic> open) {
    if (!value.type().isStatic()) {
      open.add(
          new Diagnostic(
              MeshCode.UNBOUND,
              where,
              "static dimensions",
              value.type().toString(),
              "bind its symbols, such as --dim seq=128"));
    }
  }
}
