package io.partita.ir.text;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutDerivation;
import io.partita.ir.syntax.TextVersion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Prints a module as deterministic text, which {@link PirParser} parses to an equal module. The
 * grammar is {@code PirSyntax.g4}.
 *
 * <p>Constants of up to 16 elements are printed; a larger one is a place in the weights file of
 * {@link PirFile#write}, with a hash of its bytes.
 */
public final class PirPrinter {
  private static final int MAX_HEADER_LENGTH = 100;

  private final StringBuilder out = new StringBuilder();
  private final Map<Value, Integer> numbers = new IdentityHashMap<>();
  private final WeightTable weights;
  private Optional<LayoutDerivation> layouts = Optional.empty();

  private PirPrinter(WeightTable weights) {
    this.weights = weights;
  }

  /** Returns the text, with a hash of every weight. */
  public static String print(Module module) {
    return print(module, Long.MAX_VALUE);
  }

  /**
   * Returns the text; weights of more than {@code largestHashed} bytes aren't read and have no
   * hash.
   */
  public static String print(Module module, long largestHashed) {
    return print(module, WeightTable.of(module.graph(), largestHashed));
  }

  static String print(Module module, WeightTable weights) {
    return TextVersion.PIR.line() + body(module, weights);
  }

  private static String body(Module module, WeightTable weights) {
    PirPrinter printer = new PirPrinter(weights);
    printer.module(module);
    return printer.out.toString();
  }

  /**
   * Returns the text of a program: the mesh, the layouts of inputs and outputs, and a module for
   * each device.
   */
  public static String print(Program program) {
    return print(program, weights(program));
  }

  static String print(Program program, WeightTable weights) {
    StringBuilder out = new StringBuilder(TextVersion.PIR.line());
    out.append("program {\n  ").append(program.mesh()).append('\n');
    program.inputs().forEach((name, type) -> port(out, "input", name, type));
    program.outputs().forEach((name, type) -> port(out, "output", name, type));
    for (Module device : program.devices()) {
      body(device, weights).lines().forEach(line -> out.append("  ").append(line).append('\n'));
    }
    return out.append("}\n").toString();
  }

  static WeightTable weights(Program program) {
    return WeightTable.of(program.devices().stream().map(Module::graph).toList(), Long.MAX_VALUE);
  }

  private static void port(StringBuilder out, String kind, String name, ShardedType type) {
    out.append("  ").append(kind).append(' ');
    QuotedText.write(out, name);
    out.append(": ").append(type).append('\n');
  }

  /** Returns the text of a type; unlike {@code toString}, unusual symbols are quoted. */
  public static String print(TensorType type) {
    StringBuilder out = new StringBuilder();
    writeType(out, type);
    return out.toString();
  }

  private void room(Module.Room room) {
    out.append(" {capacity = ").append(room.capacity());
    room.positions().ifPresent(positions -> out.append(", positions = ").append(positions));
    out.append('}');
  }

  private void module(Module module) {
    out.append("module {\n");
    module.placement().ifPresent(placement -> place(module.graph(), placement));
    for (Module.State state : module.states()) {
      out.append("  state ");
      QuotedText.write(out, state.input());
      out.append(" -> ");
      QuotedText.write(out, state.output());
      state.room().ifPresent(this::room);
      out.append('\n');
    }
    for (InputRange range : module.ranges()) {
      out.append("  range ");
      QuotedText.write(out, range.input());
      out.append(" = [").append(range.least()).append(", ").append(range.most()).append("]\n");
    }
    header(module.graph());
    for (Node node : module.graph().nodes()) {
      out.append("    ");
      node(node);
      out.append('\n');
    }
    out.append("    return");
    String separator = " ";
    for (Graph.Output output : module.graph().outputs()) {
      out.append(separator);
      value(output.value());
      separator = ", ";
    }
    out.append("\n  }\n}\n");
  }

  /** Returns the layouts; none are printed if they can't be inferred. */
  private void place(Graph graph, Placement placement) {
    out.append("  ").append(placement.mesh()).append('\n');
    LayoutDerivation derivation = new LayoutDerivation(placement.mesh());
    graph.inputs().forEach(input -> derivation.input(input, placement.layout(input)));
    graph.nodes().forEach(derivation::add);
    layouts = Optional.of(derivation);
  }

  /**
   * Prints the signature in one line if it is short, else with a line for each input and output.
   */
  private void header(Graph graph) {
    out.append("  graph @");
    QuotedText.writeName(out, graph.name());
    int start = out.length();
    List<String> inputs = new ArrayList<>();
    for (Value input : graph.inputs()) {
      value(input);
      out.append(": ");
      type(input);
      inputs.add(cut(start));
    }
    List<String> outputs = new ArrayList<>();
    for (Graph.Output output : graph.outputs()) {
      QuotedText.write(out, output.name());
      out.append(": ");
      type(output.value());
      outputs.add(cut(start));
    }
    String line = "(" + String.join(", ", inputs) + ") -> (" + String.join(", ", outputs) + ") {\n";
    if (line.length() <= MAX_HEADER_LENGTH) {
      out.append(line);
      return;
    }
    lines(inputs);
    out.append(" -> ");
    lines(outputs);
    out.append(" {\n");
  }

  private void lines(List<String> parts) {
    String between = ",\n      ";
    out.append('(');
    if (!parts.isEmpty()) {
      out.append("\n      ").append(String.join(between, parts)).append("\n  ");
    }
    out.append(')');
  }

  private String cut(int start) {
    String text = out.substring(start);
    out.setLength(start);
    return text;
  }

  private void node(Node node) {
    String separator = "";
    for (Value result : node.results()) {
      numbers.put(result, numbers.size());
      out.append(separator);
      value(result);
      separator = ", ";
    }
    out.append(" = ");
    if (node.op() instanceof Source.Constant(Tensor data)) {
      constant(data);
    } else {
      operation(node);
    }
    separator = " : ";
    for (Value result : node.results()) {
      out.append(separator);
      type(result);
      separator = ", ";
    }
    if (!node.name().isEmpty()) {
      out.append(' ');
      QuotedText.write(out, node.name());
    }
    String part = node.origin().part();
    if (!part.isEmpty()) {
      out.append(" @").append(part);
    }
  }

  private void operation(Node node) {
    out.append(node.op().mnemonic()).append('(');
    String separator = "";
    for (Value operand : node.operands()) {
      out.append(separator);
      value(operand);
      separator = ", ";
    }
    out.append(')');
    AttributePrinter attributes = new AttributePrinter(out);
    node.op().write(attributes);
    attributes.close();
  }

  private void constant(Tensor data) {
    if (!WeightTable.isInline(data)) {
      WeightTable.Place place = weights.place(data);
      out.append("weight");
      AttributePrinter attributes = new AttributePrinter(out);
      attributes.integer("offset", place.offset());
      if (!place.hash().isEmpty()) {
        attributes.text("hash", place.hash());
      }
      attributes.close();
      return;
    }
    out.append("constant ");
    if (data.shape().rank() == 0) {
      out.append(ElementText.write(data, 0));
      return;
    }
    out.append('[');
    for (int i = 0; i < data.size(); i++) {
      out.append(i == 0 ? "" : ", ").append(ElementText.write(data, i));
    }
    out.append(']');
  }

  private void value(Value value) {
    out.append('%');
    if (value.isInput()) {
      QuotedText.writeName(out, value.name());
    } else {
      // A value that is not defined before has no number; such a graph is printed for debugging.
      Integer number = numbers.get(value);
      out.append(number == null ? "\"not defined before\"" : number.toString());
    }
  }

  private void type(Value value) {
    Optional<Layout> layout = layouts.flatMap(derived -> derived.layout(value));
    if (layout.isEmpty() || layout.get().isReplicated()) {
      writeType(out, value.type());
    } else {
      out.append(new ShardedType(value.type(), layout.get()));
    }
  }

  private static void writeType(StringBuilder out, TensorType type) {
    out.append(type.element().text());
    writeDims(out, type.shape().dims(), ",");
  }

  static void writeDims(StringBuilder out, List<Dim> dims, String separator) {
    out.append('[');
    for (int i = 0; i < dims.size(); i++) {
      out.append(i == 0 ? "" : separator);
      writeDim(out, dims.get(i));
    }
    out.append(']');
  }

  private static void writeDim(StringBuilder out, Dim dim) {
    if (dim.terms().isEmpty()) {
      out.append('0');
    }
    boolean first = true;
    for (Dim.Term term : dim.terms()) {
      if (!first && term.coefficient() > 0) {
        out.append('+');
      }
      first = false;
      writeTerm(out, term);
    }
  }

  private static void writeTerm(StringBuilder out, Dim.Term term) {
    String separator = "";
    if (term.coefficient() == -1 && !term.symbols().isEmpty()) {
      out.append('-');
    } else if (term.coefficient() != 1 || term.symbols().isEmpty()) {
      out.append(term.coefficient());
      separator = "*";
    }
    for (String symbol : term.symbols()) {
      out.append(separator);
      QuotedText.writeWord(out, symbol);
      separator = "*";
    }
  }
}
