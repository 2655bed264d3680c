package io.partita.frontend.onnx;

import io.partita.ir.graph.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the names of a graph stand for; a subgraph sees those of the graphs around it. */
final class NameScope {
  /** What a name stands for. */
  sealed interface Binding {}

  record Given(Value value) implements Binding {}

  /** Its node couldn't be imported, and its type isn't declared. */
  record Unknown() implements Binding {}

  /** A sequence of tensors, whose length is known. */
  record Sequence(List<Value> items) implements Binding {
    Sequence {
      items = List.copyOf(items);
    }
  }

  /**
   * An optional input that the caller of a function left out, or an optional value that isn't
   * there.
   */
  record Absent() implements Binding {}

  private final NameScope outer;
  private final Map<String, Binding> bindings = new HashMap<>();

  NameScope(NameScope outer) {
    this.outer = outer;
  }

  /** Null where nothing has the name. */
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
