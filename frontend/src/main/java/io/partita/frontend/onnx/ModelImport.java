package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.MessageLite;
import io.partita.frontend.onnx.operator.OperatorRegistry;
import io.partita.frontend.onnx.selection.SelectedRows;
import io.partita.frontend.onnx.selection.Selection;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The shared state of one import of a model. */
final class ModelImport {
  /** The newest supported version of the ONNX operator set. */
  static final int NEWEST_OPSET = 28;

  /**
   * The largest number of nodes that functions, branches and loops add; a hostile model could need
   * any number.
   */
  private static final long MAX_ADDED = 500_000;

  /**
   * The largest number of message bytes of expanded functions and subgraphs, because a body with
   * only constants has few nodes.
   */
  private static final long MAX_EXPANDED = 1L << 28;

  /** The number of diagnostics after which the import ends. */
  private static final int MAX_DIAGNOSTICS = 10_000;

  /** The total number of steps to trace unknown values for messages. */
  private static final int MAX_TRACED = 20_000_000;

  private final OnnxModel model;
  private final OperatorRegistry registry;
  private final ImportOptions options;
  private final Map<String, Tensor> values;
  private final DimensionEquations equations;
  private final SelectionCounts counts;
  private final GraphBuilder graph;
  private final FoldingBuilder builder;
  private final GraphInputs inputs;
  private final Map<Frame.FunctionKey, FunctionProto> functions = new HashMap<>();
  private final List<Diagnostic> diagnostics = new ArrayList<>();
  private final List<UnsupportedNode> unsupported = new ArrayList<>();
  private final SortedSet<String> shapeInputs = new TreeSet<>();
  private final SortedSet<String> constantInputs = new TreeSet<>();
  private final Set<String> symbols = new HashSet<>();
  private final List<Selection> selections = new ArrayList<>();
  private long nodes;
  private long expanded;
  private int traceable = MAX_TRACED;
  private int freshDims;
  private Optional<NumberChoice.FirstFailure> firstFailure = Optional.empty();

  /**
   * @param values the values of constant graph inputs, by name
   * @param equations the constraints of extents of inputs, to which the import adds
   * @param counts the constraints of counts of NonZero, to which the import adds
   */
  ModelImport(
      OnnxModel model,
      OperatorRegistry registry,
      ImportOptions options,
      Map<String, Tensor> values,
      DimensionEquations equations,
      SelectionCounts counts) {
    this.equations = equations;
    this.counts = counts;
    this.model = model;
    this.registry = registry;
    this.options = options;
    this.values = values;
    this.graph = new GraphBuilder(model.name());
    this.builder = new FoldingBuilder(graph);
    this.inputs = new GraphInputs(options, equations, this::report);
  }

  OperatorRegistry registry() {
    return registry;
  }

  SelectionCounts counts() {
    return counts;
  }

  FoldingBuilder builder() {
    return builder;
  }

  TensorReader tensors() {
    return model.tensors();
  }

  /** Returns the inputs with unknown values that determine a shape. */
  SortedSet<String> shapeInputs() {
    return shapeInputs;
  }

  void determinesShape(String input) {
    shapeInputs.add(input);
  }

  Optional<FunctionProto> function(Frame.FunctionKey key) {
    return Optional.ofNullable(functions.get(key));
  }

  void report(Diagnostic diagnostic) {
    diagnostics.add(diagnostic);
    if (diagnostics.size() == MAX_DIAGNOSTICS) {
      throw new ExpansionLimit(
          new Diagnostic(
              ImportCode.MORE, diagnostic.where(), "", "the import stops here", "fix these first"));
    }
  }

  /**
   * Adds a constraint of extents.
   *
   * @throws ImportRestart if it is new
   */
  void require(List<TypeMismatch.Equation> required, String where) {
    boolean isAboutInputs =
        required.stream()
            .allMatch(
                equation ->
                    Stream.of(equation.left(), equation.right())
                        .flatMap(dim -> dim.symbols().stream())
                        .allMatch(equations::isDeclared));
    if (isAboutInputs && equations.learn(required, where)) {
      throw new ImportRestart();
    }
  }

  /** Adds the end of a slice. */
  void note(Movement.Slice slice, Shape operand, String where) {
    for (int axis = 0; axis < operand.rank(); axis++) {
      if (slice.steps().get(axis) == 1) {
        Dim end = slice.starts().get(axis).plus(slice.sizes().get(axis));
        equations.slice(operand.dim(axis), end, where);
      }
    }
  }

  void report(PartitaException failure) {
    failure.diagnostics().forEach(this::report);
  }

  void report(UnsupportedNode node) {
    if (unsupported.size() < MAX_DIAGNOSTICS) {
      unsupported.add(node);
    }
  }

  /** Counts a node, and ends the import if there are too many. */
  void countNode(NodeImport node) {
    long most = model.proto().getGraph().getNodeCount() + MAX_ADDED;
    expanded += node.depth();
    if (++nodes > most) {
      throw tooLarge(node, "at most " + most + " nodes");
    }
    requireExpandable(node);
  }

  /** Counts an expanded body, and ends the import if there are too many. */
  void countExpansion(NodeImport node, MessageLite body) {
    expanded += body.getSerializedSize();
    requireExpandable(node);
  }

  private void requireExpandable(NodeImport node) {
    if (expanded > MAX_EXPANDED) {
      throw tooLarge(
          node, "at most " + MAX_EXPANDED + " bytes of functions, subgraphs and their names");
    }
  }

  private static ExpansionLimit tooLarge(NodeImport node, String expected) {
    return new ExpansionLimit(
        new Diagnostic(ImportCode.EXPANSION, node.where(), expected, "more", "split the model"));
  }

  /** Returns the unknown inputs and symbols on which a value depends. */
  Unbound unbound(Value value) {
    Unbound.Trace trace = Unbound.of(value, Math.max(traceable, 1000));
    traceable -= trace.steps();
    return trace.unbound();
  }

  Optional<NumberChoice.FirstFailure> firstFailure() {
    return firstFailure;
  }

  /** Records the numbers that may let the import proceed beyond the first failing node. */
  void noteFailure(NodeImport node, PartitaException failure) {
    if (firstFailure.isPresent() || !diagnostics.isEmpty()) {
      return;
    }
    DiagnosticCode code = failure.diagnostics().getFirst().code();
    boolean isMisfit =
        code == ImportCode.MISFIT
            || code == ImportCode.INVALID_NODE
            || code == EvaluationCode.INDEX_OUT_OF_RANGE;
    boolean mayNeedNumbers =
        isMisfit || code == ImportCode.NOT_KNOWN || code == ImportCode.UNSUPPORTED_USE;
    SortedSet<String> open = new TreeSet<>();
    if (mayNeedNumbers && !node.isContradictory()) {
      node.values().forEach(value -> open.addAll(unbound(value).symbols()));
      open.retainAll(inputs.symbols());
    }
    SortedSet<String> images = new TreeSet<>(open);
    images.retainAll(inputs.imageSizes());
    firstFailure =
        Optional.of(
            new NumberChoice.FirstFailure(nodes, isMisfit, open, images, node.conditions()));
  }

  /** Ends the whole import. */
  static final class ExpansionLimit extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Diagnostic diagnostic;

    ExpansionLimit(Diagnostic diagnostic) {
      super(diagnostic.toString(), null, false, false);
      this.diagnostic = diagnostic;
    }
  }

  boolean departs() {
    return options.departs();
  }

  /** Returns a placeholder for the coordinates of the true elements of a mask. */
  Optional<Value> selected(Value mask, String where) {
    Dim count = freshDim();
    if (counts.findsAll(count, mask.type().shape().size(), where)) {
      return Optional.empty();
    }
    TensorType type = new TensorType(ElementType.I64, Shape.of(Dim.of(mask.type().rank()), count));
    Value coordinates = graph.input("coordinates of " + count, type);
    selections.add(new Selection(count, mask, coordinates));
    return Optional.of(coordinates);
  }

  Dim freshDim() {
    String name;
    do {
      name = "extent_" + freshDims++;
    } while (!symbols.add(name));
    return Dim.symbol(name);
  }

  ImportResult run() {
    try {
      importMainGraph();
      if (diagnostics.isEmpty() && equations.assumeSliceEnds()) {
        throw new ImportRestart();
      }
    } catch (ExpansionLimit limit) {
      diagnostics.add(limit.diagnostic);
    }
    Optional<Module> module =
        diagnostics.isEmpty() ? selectedRows(graph.finish()).map(Module::new) : Optional.empty();
    return new ImportResult(
        module.map(this::withDeclared),
        diagnostics,
        unsupported,
        constantInputs,
        inputs.symbols(),
        equations.derived(),
        List.of());
  }

  /** Eliminates extents that depend on data; empty if impossible. */
  private Optional<Graph> selectedRows(Graph whole) {
    try {
      return Optional.of(LiveGraph.of(SelectedRows.resolve(whole, selections, builder::dims)));
    } catch (PartitaException failure) {
      report(failure);
      return Optional.empty();
    }
  }

  /** Restores the declared expressions of undetermined extents. */
  private Module withDeclared(Module module) {
    Map<String, Dim> declared = new HashMap<>();
    equations.undetermined().forEach((symbol, dim) -> declared.put(symbol, inputs.bound(dim)));
    try {
      return declared.isEmpty() ? module : DimensionBinding.bind(module, declared);
    } catch (TypeMismatch | ArithmeticException untrue) {
      return module;
    }
  }

  private void importMainGraph() {
    GraphProto proto = model.proto().getGraph();
    Map<String, Integer> versions = operatorSets(model.proto().getOpsetImportList(), "the model");
    for (FunctionProto function : model.proto().getFunctionsList()) {
      Frame.FunctionKey key = FunctionCall.key(function);
      if (functions.putIfAbsent(key, function) != null) {
        report(
            new Diagnostic(
                ImportCode.DUPLICATE, "function " + key, "unique function names", "two", ""));
      }
    }
    NameScope names = new NameScope(null);
    Frame frame = new Frame(names, versions, Map.of(), declared(proto), List.of(), "");
    new Initializers(this).bind(proto, names, "");
    bindInputs(proto, names);
    new NodeSequence(this, frame).run(proto.getNodeList(), "");
    new GraphOutputs(this, graph, inputs, equations).bind(proto, names);
  }

  /** Returns versions by domain, and reports unsupported ones. */
  Map<String, Integer> operatorSets(List<OperatorSetIdProto> sets, String where) {
    Map<String, Integer> versions = new TreeMap<>();
    for (OperatorSetIdProto set : sets) {
      String domain = Domains.canonical(set.getDomain());
      int version = Math.clamp(set.getVersion(), -1, 1 << 30);
      if (version < 1 || domain.isEmpty() && version > NEWEST_OPSET) {
        report(
            new Diagnostic(
                ImportCode.OPERATOR_SET,
                where,
                domain.isEmpty()
                    ? "a version from 1 to " + NEWEST_OPSET + " of ai.onnx"
                    : "a version of 1 or more of " + domain,
                "version " + set.getVersion(),
                "export the model with opset_version=" + NEWEST_OPSET + " or lower"));
      }
      versions.put(domain, version);
    }
    return versions;
  }

  /** Returns the declared types of the values of a graph. */
  static Map<String, TypeProto> declared(GraphProto proto) {
    Map<String, TypeProto> declared = new HashMap<>();
    for (ValueInfoProto info : proto.getValueInfoList()) {
      declared.put(info.getName(), info.getType());
    }
    for (ValueInfoProto info : proto.getOutputList()) {
      declared.put(info.getName(), info.getType());
    }
    return declared;
  }

  private void bindInputs(GraphProto proto, NameScope names) {
    List<ValueInfoProto> open = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (ValueInfoProto input : proto.getInputList()) {
      if (!seen.add(input.getName())) {
        report(
            new Diagnostic(
                ImportCode.DUPLICATE,
                "input \"" + input.getName() + "\"",
                "unique input names",
                "two",
                "rename one of them"));
      } else if (!names.isDefinedHere(input.getName()) || values.containsKey(input.getName())) {
        open.add(input);
      }
    }
    Map<String, Shape> shapes = new TreeMap<>(options.shapes());
    values.forEach((input, value) -> shapes.put(input, value.shape()));
    for (String name : shapes.keySet()) {
      if (!seen.contains(name)) {
        report(
            new Diagnostic(
                ImportCode.UNKNOWN_INPUT,
                "--bind " + name,
                "an input of the model",
                name,
                "its inputs are " + String.join(", ", new TreeSet<>(seen))));
      }
    }
    Map<String, TensorType> types = inputs.types(open, shapes);
    types.values().forEach(type -> type.shape().forEach(dim -> symbols.addAll(dim.symbols())));
    for (ValueInfoProto input : open) {
      bindInput(input.getName(), Optional.ofNullable(types.get(input.getName())), names);
    }
  }

  private void bindInput(String name, Optional<TensorType> type, NameScope names) {
    Tensor value = values.get(name);
    if (type.isEmpty()) {
      names.bind(name, new NameScope.Unknown());
    } else if (value == null) {
      names.bind(name, graph.input(name, type.get()));
    } else {
      if (value.element() != type.get().element()) {
        report(
            new Diagnostic(
                ImportCode.INPUT_VALUE,
                "input \"" + name + "\"",
                "a value of element type " + type.get().element(),
                value.element().text(),
                "bind a value of the declared type"));
      }
      builder.at(name);
      names.bind(name, builder.constant(value));
      constantInputs.add(name);
    }
  }

  void reportUndefined(String where, String name) {
    report(
        new Diagnostic(
            ImportCode.UNDEFINED,
            where,
            "a value of an input, an initializer or a node",
            "\"" + name + "\"",
            "export the model again: a part of it is missing"));
  }

  /**
   * Returns a placeholder for the result of a node that can't be imported, so that its users can
   * be.
   */
  NameScope.Binding standIn(String name, Frame frame) {
    TypeProto declared = frame.declared().get(name);
    if (declared == null || !declared.hasTensorType() || !declared.getTensorType().hasShape()) {
      return new NameScope.Unknown();
    }
    List<Dim> dims = new ArrayList<>();
    for (var dimension : declared.getTensorType().getShape().getDimList()) {
      dims.add(
          GraphInputs.isNumber(dimension)
              ? Dim.of(Math.max(0, dimension.getDimValue()))
              : GraphInputs.symbolic(dimension.getDimParam(), name + "_dim" + dims.size()));
    }
    Map<String, Dim> bound = new HashMap<>();
    options.dims().forEach((symbol, extent) -> bound.put(symbol, Dim.of(extent)));
    return OnnxElements.element(declared.getTensorType().getElemType())
        .flatMap(element -> bind(new TensorType(element, new Shape(dims)), bound))
        .<NameScope.Binding>map(type -> new NameScope.Given(graph.input(name, type)))
        .orElseGet(NameScope.Unknown::new);
  }

  /** Empty if there is no such tensor. */
  private static Optional<TensorType> bind(TensorType declared, Map<String, Dim> bound) {
    try {
      TensorType type = declared.bind(bound);
      return type.isPossible() ? Optional.of(type) : Optional.empty();
    } catch (ArithmeticException overflow) {
      return Optional.empty();
    }
  }
}
