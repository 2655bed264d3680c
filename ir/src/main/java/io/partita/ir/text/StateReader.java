package io.partita.ir.text;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.antlr.v4.runtime.Token;

/** Reads the states of a module and checks them against its graph. */
record StateReader(Locator locator, TypeReader types, LayoutChecker layouts) {
  List<Module.State> states(List<PirSyntaxParser.StateContext> trees, Graph graph) {
    Map<String, Value> inputs = new HashMap<>();
    for (Value input : graph.inputs()) {
      inputs.put(input.name(), input);
    }
    Map<String, Value> outputs = new HashMap<>();
    for (Graph.Output output : graph.outputs()) {
      outputs.put(output.name(), output.value());
    }
    List<Module.State> states = new ArrayList<>();
    Set<String> kept = new HashSet<>();
    for (PirSyntaxParser.StateContext tree : trees) {
      Token input = tree.STRING(0).getSymbol();
      Token output = tree.STRING(1).getSymbol();
      Value before = find(inputs, input, "input");
      Value after = find(outputs, output, "output");
      layouts.state(output, before, after);
      if (!kept.add(types.string(input))) {
        throw locator.error(TextCode.STATE, input, "each input in one state", "");
      }
      states.add(new Module.State(types.string(input), types.string(output), room(tree)));
    }
    return states;
  }

  private Optional<Module.Room> room(PirSyntaxParser.StateContext tree) {
    if (tree.attributes() == null) {
      return Optional.empty();
    }
    AttributeParser attributes =
        new AttributeParser(
            locator,
            types,
            tree.start,
            tree.attributes(),
            (place, text) -> {
              throw new AssertionError("a state has no layout to read");
            });
    long capacity = attributes.integer("capacity");
    OptionalLong positions =
        attributes.has("positions")
            ? OptionalLong.of(attributes.integer("positions"))
            : OptionalLong.empty();
    attributes.requireAllRead();
    return Optional.of(new Module.Room(capacity, positions));
  }

  private Value find(Map<String, Value> named, Token token, String kind) {
    Value value = named.get(types.string(token));
    if (value == null) {
      throw locator.error(TextCode.STATE, token, "the name of an " + kind + " of the graph", "");
    }
    return value;
  }
}
