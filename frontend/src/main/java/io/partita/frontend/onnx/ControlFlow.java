package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Imports nodes with subgraphs. The taken branch replaces an If, and a Loop or Scan with a known
 * number of iterations is unrolled by {@link Loops}. If a condition is unknown, both branches are
 * computed and one result is selected, which is valid because operations have no side effects.
 */
final class ControlFlow {
  private static final Set<String> OPERATORS = Set.of("If", "Loop", "Scan");

  private final ModelImport model;
  private final Frame frame;
  private final NodeImport scope;

  ControlFlow(ModelImport model, Frame frame, NodeImport scope) {
    this.model = model;
    this.frame = frame;
    this.scope = scope;
  }

  static boolean handles(Frame.FunctionKey key) {
    return key.domain().isEmpty() && OPERATORS.contains(key.name());
  }

  void run(NodeProto node) {
    switch (node.getOpType()) {
      case "If" -> importIf();
      case "Scan" -> new Loops(model, scope, this).importScan();
      default -> new Loops(model, scope, this).importLoop();
    }
  }

  GraphProto graph(String attribute) {
    return scope
        .attribute(attribute)
        .filter(AttributeProto::hasG)
        .map(AttributeProto::getG)
        .orElseThrow(() -> scope.invalid("a subgraph " + attribute, "none"));
  }

  private void importIf() {
    Value condition = scope.input(0);
    GraphProto then = graph("then_branch");
    GraphProto otherwise = graph("else_branch");
    if (condition.type().element() != ElementType.BOOL) {
      throw scope.invalid("a boolean condition", condition.type().toString());
    }
    Optional<List<Dim>> known = model.builder().dims(condition);
    if (known.isPresent() && known.get().size() == 1) {
      bind(run(known.get().getFirst().is(0) ? otherwise : then, List.of()));
      return;
    }
    List<NameScope.Binding> left = run(then, List.of());
    List<NameScope.Binding> right = run(otherwise, List.of());
    for (int i = 0; i < Math.min(scope.outputs(), Math.min(left.size(), right.size())); i++) {
      if (left.get(i) instanceof NameScope.Given(Value a)
          && right.get(i) instanceof NameScope.Given(Value b)) {
        if (!a.type().equals(b.type())) {
          throw conditionNotKnown(then, otherwise);
        }
        Value scalar = scope.add(new Movement.Reshape(Shape.SCALAR), condition);
        scope.output(i, scope.add(new Elementwise.Select(), scalar, a, b));
      } else {
        scope.bindResult(i, new NameScope.Unknown());
      }
    }
  }

  /** Returns a diagnostic that asks to bind the condition. */
  private RuntimeException conditionNotKnown(GraphProto then, GraphProto otherwise) {
    Optional<Value> input = input(scope.input(0));
    if (input.isPresent()) {
      String name = input.get().name();
      boolean takesThen = inputsRead(then) >= inputsRead(otherwise);
      Tensor value = Tensor.filled(input.get().type(), takesThen ? 1 : 0);
      scope.decidedBy(name, value);
      model.determinesShape(name);
      return new PartitaException(
          ImportCode.NOT_KNOWN,
          scope.where(),
          "a known value of the input " + name + ", because the branches have different types",
          "it depends on the value of " + name,
          "add --bind "
              + name
              + "="
              + (takesThen ? 1 : 0)
              + ", which selects the branch that uses"
              + " more inputs");
    }
    scope.data(0);
    return scope.unsupported("branches of different types", "make the condition a constant");
  }

  /** Returns the input of one element from which a value differs only by shape and type. */
  private static Optional<Value> input(Value condition) {
    Value value = condition;
    while (!value.isInput()
        && (value.definition().op() instanceof Movement.Reshape
            || value.definition().op() instanceof Elementwise.Cast)) {
      value = value.definition().operand(0);
    }
    boolean isOne = value.isInput() && value.type().isStatic() && value.type().shape().size().is(1);
    return isOne ? Optional.of(value) : Optional.empty();
  }

  /** Returns the number of inputs of the model that the nodes of a branch use. */
  private long inputsRead(GraphProto branch) {
    Set<String> read = new HashSet<>();
    Deque<GraphProto> graphs = new ArrayDeque<>(List.of(branch));
    while (!graphs.isEmpty()) {
      GraphProto graph = graphs.pop();
      for (NodeProto node : graph.getNodeList()) {
        read.addAll(node.getInputList());
        node.getAttributeList().stream()
            .filter(AttributeProto::hasG)
            .forEach(attribute -> graphs.push(attribute.getG()));
      }
    }
    return read.stream()
        .filter(
            name ->
                frame.names().find(name) instanceof NameScope.Given(Value value) && value.isInput())
        .count();
  }

  void bind(List<NameScope.Binding> results) {
    for (int i = 0; i < Math.min(results.size(), scope.outputs()); i++) {
      scope.bindResult(i, results.get(i));
    }
  }

  /** Returns the outputs of a subgraph for the arguments of its inputs. */
  List<NameScope.Binding> run(GraphProto graph, List<NameScope.Binding> arguments) {
    if (graph.getInputCount() != arguments.size()) {
      throw scope.invalid(
          "a subgraph with " + arguments.size() + " inputs", graph.getInputCount() + " inputs");
    }
    model.countExpansion(scope, graph);
    NameScope names = new NameScope(frame.names());
    for (int i = 0; i < arguments.size(); i++) {
      names.bind(graph.getInput(i).getName(), arguments.get(i));
    }
    String where = "subgraph of " + scope.where() + ", ";
    new Initializers(model).bind(graph, names, where);
    Frame inner = frame.inside(names, ModelImport.declared(graph));
    new NodeSequence(model, inner).run(graph.getNodeList(), where);
    List<NameScope.Binding> results = new ArrayList<>();
    for (ValueInfoProto output : graph.getOutputList()) {
      NameScope.Binding binding = names.find(output.getName());
      if (binding == null) {
        model.reportUndefined(where + "output", output.getName());
        binding = new NameScope.Unknown();
      }
      results.add(binding);
    }
    model.builder().at(frame.prefix() + scope.name());
    return results;
  }
}
