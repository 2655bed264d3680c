package io.partita.frontend.onnx;

import io.partita.ir.graph.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The names of a graph; a subgraph also sees the names of enclosing graphs. */
final class NameScope {
  /** The meaning of a name. */
  sealed interface Binding {}

  record Given(Value value) implements Binding {}

  /** A value of undeclared type whose node couldn't be imported. */
  record Unknown() implements Binding {}

  /** A sequence of tensors of known length. */
  record Sequence(List<Value> items) implements Binding {
    Sequence {
      items = List.copyOf(items);
    }
  }

  /** An optional input that a function call omits, or an empty optional value. */
  record Absent() implements Binding {}

  private final NameScope outer;
  private final Map<String, Binding> bindings = new HashMap<>();

  NameScope(NameScope outer) {
    this.outer = outer;
  }

  /** Returns null for an unknown name. */
  Binding find(String name) {
    for (NameScope scope = this; scope != null; scope = scope.outer) {
      Binding binding = scope.bindings.get(name);
      if (binding != null) {
        return binding;
      }
    }
    return null;
  }

  boolean isDefinedHere(String name) {
    return bindings.containsKey(name);
  }

  void bind(String name, Binding binding) {
    bindings.put(name, binding);
  }

  void bind(String name, Value value) {
    bindings.put(name, new Given(value));
  }
}
