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
 * Nodes with subgraphs: the branch of an If that is taken stands in its place, and a Loop of a
 * known number of turns is unrolled. Operations have no effects, so where only the choice isn't
 * known, both branches are computed and one is selected.
 */
final class ControlFlow {
  private final ModelImport model;
  private final Frame frame;
  private final NodeImport scope;

  ControlFlow(ModelImport model, Frame frame, NodeImport scope) {
    this.model = model;
    this.frame = frame;
    this.scope = scope;
  }

  static boolean handles(Frame.FunctionKey key) {
    return key.domain().isEmpty() && (key.name().equals("If") || key.name().equals("Loop"));
  }

  void run(NodeProto node) {
    if (node.getOpType().equals("If")) {
      importIf();
    } else {
      importLoop();
    }
  }

  private GraphProto graph(String attribute) {
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

  /** As for a shape: the condition is to be bound. */
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
          "a known value of the input " + name + ", as the branches give different types",
          "it depends on the value of " + name,
          "add --bind "
              + name
              + "="
              + (takesThen ? 1 : 0)
              + ", which takes the branch that reads"
              + " more inputs");
    }
    scope.data(0);
    return scope.unsupported("branches of different types", "make the condition a constant");
  }

  /** The input of one element that a value is, but for its shape and type. */
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

  /** How many inputs of the model the nodes of a branch name. */
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

  private void bind(List<NameScope.Binding> results) {
    for (int i = 0; i < Math.min(results.size(), scope.outputs()); i++) {
      scope.bindResult(i, results.get(i));
    }
  }

  /** The outputs of a subgraph on arguments for its inputs. */
  private List<NameScope.Binding> run(GraphProto graph, List<NameScope.Binding> arguments) {
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
    model.bindInitializers(graph, names, where);
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

  /** Body inputs: turn, condition, carried values; outputs: condition, carried, scanned values. */
  private void importLoop() {
    GraphProto body = graph("body");
    int carried = Math.max(0, scope.inputs() - 2);
    int scanned = body.getOutputCount() - 1 - carried;
    if (scanned < 0) {
      throw scope.invalid(
          "a body with an output for each carried value", body.getOutputCount() + "");
    }
    if (!scope.has(0)) {
      throw scope.unsupported("a loop without a trip count", "unroll the loop when exporting");
    }
    long turns = scope.integerOperand(0);
    Tensor yes = Tensor.scalar(ElementType.BOOL, 1);
    boolean runs = !scope.has(1) || scope.data(1).getBoolean(0);
    List<NameScope.Binding> state = new ArrayList<>();
    for (int i = 0; i < carried; i++) {
      state.add(new NameScope.Given(scope.input(i + 2)));
    }
    List<List<Value>> scans = new ArrayList<>();
    for (int i = 0; i < scanned; i++) {
      scans.add(new ArrayList<>());
    }
    for (long turn = 0; turn < turns && runs; turn++) {
      model.countNode(scope);
      List<NameScope.Binding> arguments = new ArrayList<>();
      arguments.add(new NameScope.Given(scope.constant(Tensor.longs(Shape.SCALAR, turn))));
      arguments.add(new NameScope.Given(scope.constant(yes)));
      arguments.addAll(state);
      List<NameScope.Binding> results = run(body, arguments);
      runs = goesOn(results.getFirst());
      state = results.subList(1, 1 + carried);
      for (int i = 0; i < scanned; i++) {
        if (results.get(1 + carried + i) instanceof NameScope.Given(Value value)) {
          Shape row = Shape.of(1).concat(value.type().shape());
          scans.get(i).add(scope.add(new Movement.Reshape(row), value));
        }
      }
    }
    bind(state);
    for (int i = 0; i < scanned; i++) {
      bindScan(carried + i, scans.get(i), body.getOutput(1 + carried + i));
    }
  }

  private boolean goesOn(NameScope.Binding condition) {
    Optional<List<Dim>> known =
        condition instanceof NameScope.Given(Value value)
            ? model.builder().dims(value)
            : Optional.empty();
    if (known.isEmpty() || known.get().size() != 1) {
      throw scope.unsupported(
          "a loop whose end depends on computed values", "unroll the loop when exporting");
    }
    return !known.get().getFirst().is(0);
  }

  private void bindScan(int output, List<Value> rows, ValueInfoProto declared) {
    if (!scope.wants(output)) {
      return;
    }
    if (rows.isEmpty()) {
      throw scope.unsupported(
          "a scan output " + declared.getName() + " of no turns", "remove the loop");
    }
    scope.output(output, scope.add(new Movement.Concat(0), rows));
  }
}
