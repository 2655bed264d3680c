package io.partita.ir.text;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.antlr.v4.runtime.Token;

/** Reads the states of a module and checks them against its graph. */
record StateReader(Locator locator, TypeReader types) {
  List<Module.State> states(List<PirSyntaxParser.StateContext> trees, Graph graph) {
    Map<String, TensorType> inputs = new HashMap<>();
    for (Value input : graph.inputs()) {
      inputs.put(input.name(), input.type());
    }
    Map<String, TensorType> outputs = new HashMap<>();
    for (Graph.Output output : graph.outputs()) {
      outputs.put(output.name(), output.value().type());
    }
    List<Module.State> states = new ArrayList<>();
    Set<String> kept = new HashSet<>();
    for (PirSyntaxParser.StateContext tree : trees) {
      Token input = tree.STRING(0).getSymbol();
      Token output = tree.STRING(1).getSymbol();
      TensorType before = find(inputs, input, "input");
      TensorType after = find(outputs, output, "output");
      if (!before.equals(after)) {
        throw locator.error(
            TextCode.STATE,
            output,
            "an output of the input's type " + PirPrinter.print(before),
            PirPrinter.print(after),
            "");
      }
      if (!kept.add(types.string(input))) {
        throw locator.error(TextCode.STATE, input, "each input in one state", "");
      }
      states.add(new Module.State(types.string(input), types.string(output)));
    }
    return states;
  }

  private TensorType find(Map<String, TensorType> named, Token token, String kind) {
    TensorType type = named.get(types.string(token));
    if (type == null) {
      throw locator.error(TextCode.STATE, token, "the name of an " + kind + " of the graph", "");
    }
    return type;
  }
}
