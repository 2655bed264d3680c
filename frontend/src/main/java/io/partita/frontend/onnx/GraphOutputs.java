package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The outputs of a model's graph. */
final class GraphOutputs {
  private final ModelImport model;
  private final GraphBuilder graph;
  private final GraphInputs inputs;
  private final DimensionEquations equations;

  GraphOutputs(
      ModelImport model, GraphBuilder graph, GraphInputs inputs, DimensionEquations equations) {
    this.model = model;
    this.graph = graph;
    this.inputs = inputs;
    this.equations = equations;
  }

  /** Adds the values with the names of outputs as outputs. */
  void bind(GraphProto proto, NameScope names) {
    Set<String> seen = new HashSet<>();
    for (ValueInfoProto output : proto.getOutputList()) {
      String name = output.getName();
      String where = "output \"" + name + "\"";
      if (!seen.add(name)) {
        model.report(
            new Diagnostic(
                ImportCode.DUPLICATE, where, "unique output names", "two", "rename one of them"));
        continue;
      }
      switch (names.find(name)) {
        case NameScope.Given(Value value) -> {
          requireDeclared(output, value.type().shape());
          graph.output(name, value);
        }
        case NameScope.Unknown unknown -> {}
        case NameScope.Sequence sequence ->
            model.report(
                new Diagnostic(
                    ImportCode.UNSUPPORTED_USE,
                    where,
                    "a tensor",
                    "a sequence of " + sequence.items().size() + " tensors",
                    "make each element an output, or combine them (torch.stack, torch.cat)"));
        case NameScope.Absent absent -> model.reportUndefined(where, name);
        case null -> model.reportUndefined(where, name);
      }
    }
  }

  /** Equates the declared symbols of an output with its extents. */
  private void requireDeclared(ValueInfoProto output, Shape shape) {
    var dims = output.getType().getTensorType().getShape().getDimList();
    if (dims.size() != shape.rank()) {
      return;
    }
    for (int axis = 0; axis < dims.size(); axis++) {
      Dim declared = GraphInputs.symbolic(dims.get(axis).getDimParam(), "?");
      Dim known = inputs.bound(equations.resolve(declared));
      boolean isOpen = known.isSymbol() && equations.isDeclared(known.toString());
      if (declared.isSymbol()
          && isOpen
          && !shape.dim(axis).isStatic()
          && !shape.dim(axis).symbols().contains(known.toString())) {
        model.require(
            List.of(new TypeMismatch.Equation(known, shape.dim(axis))),
            "output \"" + output.getName() + "\"");
      }
    }
  }
}
