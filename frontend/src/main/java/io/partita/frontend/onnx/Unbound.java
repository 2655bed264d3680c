package io.partita.frontend.onnx;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.type.Dim;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The inputs and dimensions, unknown at compile time, on which a value depends.
 *
 * @param inputs the names of graph inputs
 * @param symbols the names of dimensions
 */
record Unbound(SortedSet<String> inputs, SortedSet<String> symbols) {
  /** The result of a trace and its number of steps. */
  record Trace(Unbound unbound, int steps) {}

  /** Traces a value back to inputs and dimensions in at most {@code maxSteps} steps. */
  static Trace of(Value value, int maxSteps) {
    SortedSet<String> inputs = new TreeSet<>();
    SortedSet<String> symbols = new TreeSet<>();
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>();
    work.push(value);
    int steps = 0;
    while (!work.isEmpty() && steps++ < maxSteps) {
      Value next = work.pop();
      next.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
      if (next.isInput()) {
        inputs.add(next.name());
        continue;
      }
      Node definition = next.definition();
      if (definition.op() instanceof Source.Extent(var size)) {
        symbols.addAll(size.symbols());
      }
      for (Value operand : definition.operands()) {
        if (seen.add(operand)) {
          work.push(operand);
        }
      }
    }
    return new Trace(new Unbound(inputs, symbols), steps);
  }

  String describe() {
    if (inputs.isEmpty() && symbols.isEmpty()) {
      return "constants, but it can't be computed: it is too large, or an index is out of range";
    }
    return "it depends on "
        + (inputs.isEmpty() ? "" : "the value of " + listed(inputs))
        + (inputs.isEmpty() || symbols.isEmpty() ? "" : " and ")
        + (symbols.isEmpty() ? "" : "the dimension " + listed(symbols));
  }

  private static String listed(SortedSet<String> names) {
    return names.stream().limit(6).collect(Collectors.joining(", "))
        + (names.size() > 6 ? ", …" : "");
  }

  /** A placeholder for the value of an input. */
  static final String ANY = "=…";

  /** Suggests the usual number for a value that is an input. */
  String remedy(Dim usual) {
    if (usual != null && usual.isStatic() && inputs.size() == 1 && symbols.isEmpty()) {
      return "add --bind " + inputs.first() + "=" + usual;
    }
    String inputPart =
        inputs.stream()
            .limit(6)
            .map(name -> "--bind " + name + ANY)
            .collect(Collectors.joining(" "));
    String dims = symbols.isEmpty() ? "" : bindDims(symbols);
    if (inputs.isEmpty()) {
      return dims.isEmpty() ? "check the constants that it is computed from" : dims;
    }
    return "bind it: " + inputPart + (dims.isEmpty() ? "" : ", and " + dims);
  }

  /** Returns the options that bind dimensions. */
  static String bindDims(SortedSet<String> symbols) {
    return symbols.stream()
        .limit(6)
        .map(symbol -> "--dim " + symbol + "=N")
        .collect(Collectors.joining(" ", "bind the dimensions: ", ""));
  }
}
