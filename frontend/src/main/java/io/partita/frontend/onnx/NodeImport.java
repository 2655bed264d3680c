package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** The import of one node. */
final class NodeImport implements NodeScope {
  private static final int MAX_NAME_LENGTH = 1000;
  private static final String CHECK = "check the node, or export it again";

  private final ModelImport model;
  private final NodeProto node;
  private final int opset;
  private final String domain;
  private final String name;
  private final Frame frame;
  private final Map<String, AttributeProto> attributes;
  private final NameScope.Binding[] results;
  private List<NameScope.Binding> bindings = List.of();
  private List<Optional<Value>> operands = List.of();
  private boolean contradictory;
  private Map<String, Tensor> conditions = Map.of();

  NodeImport(ModelImport model, Frame frame, NodeProto node) {
    this.model = model;
    this.node = node;
    this.domain = Domains.canonical(node.getDomain());
    // Imports of custom domains are often missing; the ONNX domain must be imported.
    this.opset = frame.operatorSets().getOrDefault(domain, domain.isEmpty() ? 0 : 1);
    String full = !node.getName().isEmpty() ? node.getName() : firstOutput(node);
    // Long node names are cut to bound memory.
    this.name = full.length() > MAX_NAME_LENGTH ? full.substring(0, MAX_NAME_LENGTH) + "…" : full;
    this.frame = frame;
    this.attributes = Attributes.of(node, frame);
    this.results = new NameScope.Binding[node.getOutputCount()];
    model.builder().at(path());
  }

  private static String firstOutput(NodeProto node) {
    return node.getOutputList().stream().filter(n -> !n.isEmpty()).findFirst().orElse("");
  }

  void bind(List<NameScope.Binding> given) {
    bindings = List.copyOf(given);
    operands =
        given.stream()
            .map(
                binding ->
                    binding instanceof NameScope.Given(Value value)
                        ? Optional.of(value)
                        : Optional.<Value>empty())
            .toList();
  }

  /** Returns the meaning of an input, which may be a sequence. */
  NameScope.Binding binding(int input) {
    return bindings.get(input);
  }

  /** Checks that no operand is a sequence. */
  void requireTensors() {
    for (int i = 0; i < bindings.size(); i++) {
      if (bindings.get(i) instanceof NameScope.Sequence(List<Value> items)) {
        throw invalid("a tensor as operand " + i, "a sequence of " + items.size() + " tensors");
      }
    }
  }

  /** Returns the node's name or, if it has none, that of its first output. */
  String name() {
    return name;
  }

  /** Returns the length of the names of enclosing calls. */
  int depth() {
    return frame.prefix().length();
  }

  /** Returns the name with the prefix of enclosing calls. */
  String path() {
    return frame.prefix() + name;
  }

  String where() {
    return "node \"" + path() + "\" (" + node.getOpType() + ")";
  }

  Optional<NameScope.Binding> result(int output) {
    return Optional.ofNullable(results[output]);
  }

  void bindResult(int output, NameScope.Binding binding) {
    results[output] = binding;
  }

  /** Checks that the importer set each named output. */
  void requireOutputs() {
    for (int i = 0; i < results.length; i++) {
      if (results[i] == null && wants(i)) {
        throw unsupported(
            "output " + i + " (" + node.getOutput(i) + ")", "remove it and its users");
      }
    }
  }

  Optional<AttributeProto> attribute(String attribute) {
    return Optional.ofNullable(attributes.get(attribute));
  }

  Diagnostic diagnostic(ImportCode code, String expected, String found) {
    return new Diagnostic(code, where(), expected, found, CHECK);
  }

  /** Returns the present operands. */
  List<Value> values() {
    return operands.stream().flatMap(Optional::stream).toList();
  }

  /** Returns the values of inputs that select a branch; empty if the node has no branches. */
  Map<String, Tensor> conditions() {
    return conditions;
  }

  void decidedBy(String input, Tensor value) {
    conditions = Map.of(input, value);
  }

  /** Whether static extents of operands don't fit, regardless of open dimensions. */
  boolean isContradictory() {
    return contradictory;
  }

  /** Returns the types of operands as text. */
  List<String> operandTypes() {
    List<String> types = new ArrayList<>();
    for (int i = 0; i < node.getInputCount(); i++) {
      boolean absent = node.getInput(i).isEmpty();
      types.add(operands.get(i).map(value -> value.type().toString()).orElse(absent ? "" : "?"));
    }
    return types;
  }

  void noteUnsupported(PartitaException failure) {
    Diagnostic first = failure.diagnostics().getFirst();
    if (first.code() == ImportCode.UNSUPPORTED_OPERATOR
        || first.code() == ImportCode.UNSUPPORTED_VERSION
        || first.code() == ImportCode.UNSUPPORTED_USE) {
      String reason = first.code().title() + (first.found().isEmpty() ? "" : ": " + first.found());
      model.report(
          new UnsupportedNode(
              name, node.getOpType(), Domains.display(domain), opset, operandTypes(), reason));
    }
  }

  @Override
  public String operator() {
    return node.getOpType();
  }

  @Override
  public int opset() {
    return opset;
  }

  @Override
  public int inputs() {
    return operands.size();
  }

  @Override
  public boolean has(int input) {
    return input < operands.size() && operands.get(input).isPresent();
  }

  @Override
  public Value input(int input) {
    if (!has(input)) {
      throw invalid("operand " + input, "none");
    }
    return operands.get(input).orElseThrow();
  }

  @Override
  public int outputs() {
    return results.length;
  }

  @Override
  public boolean wants(int output) {
    return output < results.length && !node.getOutput(output).isEmpty();
  }

  @Override
  public boolean hasAttribute(String attribute) {
    return attributes.containsKey(attribute);
  }

  private AttributeProto required(String attribute) {
    AttributeProto proto = attributes.get(attribute);
    if (proto == null) {
      throw invalid("an attribute " + attribute, "none");
    }
    return proto;
  }

  private PartitaException wrongKind(String attribute, String expected) {
    return invalid("attribute " + attribute + " with " + expected, "a value of another kind");
  }

  @Override
  public long integer(String attribute) {
    AttributeProto proto = required(attribute);
    if (!proto.hasI()) {
      throw wrongKind(attribute, "an integer");
    }
    return proto.getI();
  }

  @Override
  public long integer(String attribute, long otherwise) {
    return hasAttribute(attribute) ? integer(attribute) : otherwise;
  }

  @Override
  public double number(String attribute) {
    AttributeProto proto = required(attribute);
    if (!proto.hasF() && !proto.hasI()) {
      throw wrongKind(attribute, "a float");
    }
    // Hand-written exporters write integral floats as integers.
    return proto.hasF() ? proto.getF() : proto.getI();
  }

  @Override
  public double number(String attribute, double otherwise) {
    return hasAttribute(attribute) ? number(attribute) : otherwise;
  }

  @Override
  public String text(String attribute, String otherwise) {
    if (!hasAttribute(attribute)) {
      return otherwise;
    }
    AttributeProto proto = required(attribute);
    if (!proto.hasS()) {
      throw wrongKind(attribute, "a string");
    }
    return proto.getS().toStringUtf8();
  }

  @Override
  public List<Long> integers(String attribute) {
    AttributeProto proto = required(attribute);
    if (proto.getIntsCount() == 0 && (proto.hasI() || proto.hasT() || proto.getFloatsCount() > 0)) {
      throw wrongKind(attribute, "integers");
    }
    return List.copyOf(proto.getIntsList());
  }

  @Override
  public List<Long> integers(String attribute, List<Long> otherwise) {
    return hasAttribute(attribute) ? integers(attribute) : otherwise;
  }

  @Override
  public List<Double> numbers(String attribute) {
    return required(attribute).getFloatsList().stream().map(Float::doubleValue).toList();
  }

  @Override
  public List<String> texts(String attribute) {
    return required(attribute).getStringsList().stream().map(text -> text.toStringUtf8()).toList();
  }

  @Override
  public Tensor tensor(String attribute) {
    AttributeProto proto = required(attribute);
    String place = where() + ", attribute " + attribute;
    if (proto.hasSparseTensor()) {
      return model.tensors().read(place, proto.getSparseTensor());
    }
    if (!proto.hasT()) {
      throw wrongKind(attribute, "a tensor");
    }
    return model.tensors().read(place, proto.getT());
  }

  @Override
  public ElementType element(String attribute, ElementType otherwise) {
    if (!hasAttribute(attribute)) {
      return otherwise;
    }
    long number = integer(attribute);
    return OnnxElements.element(number)
        .orElseThrow(
            () -> unsupported("element type " + OnnxElements.name(number), "use another type"));
  }

  @Override
  public int axis(long axis, int rank) {
    long fromFront = axis < 0 ? axis + rank : axis;
    if (fromFront < 0 || fromFront >= rank) {
      throw invalid("an axis from " + -rank + " to " + (rank - 1), Long.toString(axis));
    }
    return (int) fromFront;
  }

  @Override
  public Optional<Tensor> constant(int input) {
    return has(input) ? FoldingBuilder.constant(input(input)) : Optional.empty();
  }

  @Override
  public Tensor data(int input) {
    Value value = input(input);
    return model.builder().known(value).orElseThrow(() -> notKnown(input));
  }

  @Override
  public List<Dim> dims(int input) {
    Value value = input(input);
    if (value.type().element().isFloat() || value.type().rank() > 1) {
      throw invalid(
          "operand " + input + " with integers, a scalar or vector", value.type().toString());
    }
    return knownDims(value).orElseThrow(() -> notKnown(input));
  }

  @Override
  public Dim dim(int input, Dim usual) {
    List<Dim> dims = knownDims(input(input)).orElseThrow(() -> notKnown(input, usual));
    if (dims.size() != 1) {
      throw invalid("one element in operand " + input, type(input).toString());
    }
    return dims.getFirst();
  }

  @Override
  public List<Long> longs(int input) {
    return numbers("operand " + input, dims(input));
  }

  /** Returns an extent of an operand that must be static. */
  long number(Dim extent) {
    return numbers("an extent", List.of(extent)).getFirst();
  }

  private List<Long> numbers(String what, List<Dim> dims) {
    if (!dims.stream().allMatch(Dim::isStatic)) {
      SortedSet<String> symbols = new TreeSet<>();
      dims.forEach(dim -> symbols.addAll(dim.symbols()));
      throw new PartitaException(
          ImportCode.NOT_KNOWN,
          where(),
          "a number for " + what,
          dims.toString(),
          Unbound.bindDims(symbols));
    }
    return dims.stream().map(Dim::value).toList();
  }

  private PartitaException notKnown(int input) {
    return notKnown(input, null);
  }

  /**
   * @param usual the usual value of the operand, or null
   */
  private PartitaException notKnown(int input, Dim usual) {
    Unbound unbound = model.unbound(input(input));
    unbound.inputs().forEach(model::determinesShape);
    return new PartitaException(
        ImportCode.NOT_KNOWN,
        where(),
        "a known value for operand " + input + " (" + node.getInput(input) + ")",
        unbound.describe(),
        unbound.remedy(usual));
  }

  @Override
  public Optional<List<Dim>> knownDims(Value value) {
    return model.builder().dims(value);
  }

  @Override
  public Optional<Tensor> known(Value value) {
    return FoldingBuilder.constant(value);
  }

  @Override
  public Optional<Value> selected(Value mask) {
    return model.selected(mask, where());
  }

  @Override
  public boolean departs() {
    return model.departs();
  }

  @Override
  public void equate(Dim left, Dim right) {
    if (!left.equals(right)) {
      model.require(List.of(new TypeMismatch.Equation(left, right)), where());
    }
  }

  @Override
  public void requireExtent(Dim extent, Dim required) {
    model.counts().require(extent, required, this);
    equate(extent, required);
  }

  @Override
  public Dim freshDim() {
    return model.freshDim();
  }

  @Override
  public Value add(Op op, Value... values) {
    return add(op, Arrays.asList(values));
  }

  @Override
  public Value add(Op op, List<Value> values) {
    return addAll(op, values).getFirst();
  }

  @Override
  public List<Value> addAll(Op op, List<Value> values) {
    if (op instanceof Movement.Slice slice
        && slice.starts().size() == values.getFirst().type().rank()) {
      model.note(slice, values.getFirst().type().shape(), where());
    }
    try {
      return model.builder().add(op, values);
    } catch (TypeMismatch mismatch) {
      contradictory =
          mismatch.equations().stream()
              .anyMatch(equation -> equation.left().isStatic() && equation.right().isStatic());
      model.require(mismatch.equations(), where());
      SortedSet<String> symbols = new TreeSet<>();
      values.forEach(value -> value.type().shape().forEach(dim -> symbols.addAll(dim.symbols())));
      throw new PartitaException(
          ImportCode.MISFIT,
          where(),
          mismatch.expected(),
          mismatch.found(),
          symbols.isEmpty() ? CHECK : Unbound.bindDims(symbols));
    }
  }

  @Override
  public Value constant(Tensor data) {
    return model.builder().constant(data);
  }

  @Override
  public void output(int output, Value value) {
    if (output < results.length) {
      results[output] = new NameScope.Given(value);
    }
  }

  @Override
  public PartitaException invalid(String expected, String found) {
    return new PartitaException(ImportCode.INVALID_NODE, where(), expected, found, CHECK);
  }

  @Override
  public PartitaException unsupported(String what, String remedy) {
    return new PartitaException(ImportCode.UNSUPPORTED_USE, where(), "", what, remedy);
  }
}
