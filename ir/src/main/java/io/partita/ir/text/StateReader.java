package io.partita.ir.text;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.InputRange;
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

/** Parses the states and input ranges of a module and checks them against its graph. */
record StateReader(Locator locator, TypeReader types, LayoutChecker layouts) {
  List<Module.State> states(List<PirSyntaxParser.StateContext> trees, Graph graph) {
    Map<String, Value> inputs = inputs(graph);
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
        throw locator.error(TextCode.STATE, input, "each input in at most one state", "");
      }
      states.add(new Module.State(types.string(input), types.string(output), room(tree)));
    }
    return states;
  }

  private static Map<String, Value> inputs(Graph graph) {
    Map<String, Value> inputs = new HashMap<>();
    for (Value input : graph.inputs()) {
      inputs.put(input.name(), input);
    }
    return inputs;
  }

  List<InputRange> ranges(List<PirSyntaxParser.RangeContext> trees, Graph graph) {
    Map<String, Value> inputs = inputs(graph);
    List<InputRange> ranges = new ArrayList<>();
    Set<String> limited = new HashSet<>();
    for (PirSyntaxParser.RangeContext tree : trees) {
      Token input = tree.STRING().getSymbol();
      Value value = inputs.get(types.string(input));
      if (value == null || !value.type().element().isInteger()) {
        throw locator.error(
            TextCode.RANGE, input, "the name of an input of integers of the graph", "");
      }
      if (!limited.add(types.string(input))) {
        throw locator.error(TextCode.RANGE, input, "one range per input", "");
      }
      long least = bound(tree.bound(0));
      long most = bound(tree.bound(1));
      if (least > most) {
        throw locator.error(
            TextCode.RANGE, tree.bound(1).start, "a value from " + least + " on", "" + most, "");
      }
      ranges.add(new InputRange(types.string(input), least, most));
    }
    return ranges;
  }

  private long bound(PirSyntaxParser.BoundContext tree) {
    try {
      return Long.parseLong(tree.getText());
    } catch (NumberFormatException e) {
      throw locator.error(TextCode.LIMIT, tree.start, "a 64-bit integer", "");
    }
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
