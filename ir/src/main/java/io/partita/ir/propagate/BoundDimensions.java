package io.partita.ir.propagate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks that the dimensions of all values are numbers. */
public final class BoundDimensions {
  private BoundDimensions() {}

  /**
   * @throws PartitaException with {@link MeshCode#UNBOUND} otherwise: one diagnostic for each
   *     symbol, at the first value that has it
   */
  public static void require(Graph graph) {
    Set<String> seen = new HashSet<>();
    List<Diagnostic> unbound = new ArrayList<>();
    for (Value input : graph.inputs()) {
      require("input " + input.name(), input, seen, unbound);
    }
    graph
        .nodes()
        .forEach(
            node ->
                node.results().forEach(result -> require("node " + node, result, seen, unbound)));
    if (!unbound.isEmpty()) {
      throw new PartitaException(unbound);
    }
  }

  private static void require(
      String where, Value value, Set<String> seen, List<Diagnostic> unbound) {
    for (Dim dim : value.type().shape().dims()) {
      for (String symbol : dim.symbols()) {
        if (seen.add(symbol)) {
          unbound.add(unbound(where, value, symbol));
        }
      }
    }
  }

  /** Reports that {@code value} has an extent with this symbol. */
  static Diagnostic unbound(String where, Value value, String symbol) {
    return new Diagnostic(
        MeshCode.UNBOUND,
        where,
        "numbers",
        value.type().toString(),
        "bind the symbol: --dim " + symbol + "=N");
  }
}
