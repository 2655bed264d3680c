package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.frontend.onnx.operator.OperatorImporter;
import io.partita.frontend.onnx.operator.OperatorRegistry;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.EvaluationCode;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/** Imports the nodes of one graph or function body in order. */
final class NodeSequence {
  private final ModelImport model;
  private final Frame frame;

  NodeSequence(ModelImport model, Frame frame) {
    this.model = model;
    this.frame = frame;
  }

  /**
   * @param where the graph, for messages; empty or with a trailing space
   */
  void run(List<NodeProto> nodes, String where) {
    for (NodeProto node :
        NodeOrder.sort(nodes, frame.names()::isDefinedHere, where, model::report)) {
      importNode(node);
    }
  }

  private void importNode(NodeProto node) {
    NodeImport scope = new NodeImport(model, frame, node);
    model.countNode(scope);
    boolean known = true;
    boolean defined = true;
    List<NameScope.Binding> operands = new ArrayList<>();
    for (String input : node.getInputList()) {
      NameScope.Binding binding =
          input.isEmpty() ? new NameScope.Absent() : frame.names().find(input);
      known &= !(binding instanceof NameScope.Unknown);
      if (binding == null) {
        model.reportUndefined(scope.where(), input);
        defined = false;
      }
      operands.add(binding == null ? new NameScope.Unknown() : binding);
    }
    scope.bind(operands);
    try {
      convert(node, scope, known && defined);
    } catch (PartitaException raised) {
      PartitaException failure = located(raised, scope);
      model.noteFailure(scope, failure);
      model.report(failure);
      scope.noteUnsupported(failure);
    } catch (ArithmeticException overflow) {
      model.report(scope.diagnostic(ImportCode.MISFIT, "extents that fit a long", "an overflow"));
    } catch (IndexOutOfBoundsException
        | NoSuchElementException
        | IllegalArgumentException
        | IllegalStateException broken) {
      model.report(
          scope.diagnostic(
              ImportCode.INVALID_NODE,
              "operands and attributes as the operator defines them",
              String.valueOf(broken.getMessage())));
    } catch (ModelImport.ExpansionLimit | ImportRestart end) {
      throw end;
    } catch (RuntimeException | AssertionError bug) {
      model.report(
          new Diagnostic(
              ImportCode.INTERNAL,
              scope.where(),
              "",
              bug + " on operands " + String.join(", ", scope.operandTypes()),
              "report it with the model"));
    }
    bindOutputs(node, scope);
  }

  private void bindOutputs(NodeProto node, NodeImport scope) {
    for (int i = 0; i < node.getOutputCount(); i++) {
      String name = node.getOutput(i);
      if (!name.isEmpty() && !frame.names().isDefinedHere(name)) {
        frame
            .names()
            .bind(
                name,
                scope.result(i).orElse(null) instanceof NameScope.Binding binding
                    ? binding
                    : model.standIn(name, frame));
      }
    }
  }

  /** Returns a failure of the evaluation of a part of a node, with the node. */
  private static PartitaException located(PartitaException failure, NodeImport scope) {
    return new PartitaException(
        failure.diagnostics().stream()
            .map(
                each ->
                    each.code() instanceof EvaluationCode
                        ? new Diagnostic(
                            each.code(),
                            scope.where(),
                            each.expected(),
                            each.found(),
                            "use other numbers with --dim or --bind, or export the model again")
                        : each)
            .toList());
  }

  /**
   * @param known whether all operands could be imported; if not, only the operator is checked
   */
  private void convert(NodeProto node, NodeImport scope, boolean known) {
    Frame.FunctionKey key = FunctionCall.key(node);
    Optional<FunctionProto> function = model.function(key);
    if (function.isPresent()) {
      new FunctionCall(model, frame, key, function.get()).run(node, scope);
      return;
    }
    if (ControlFlow.handles(key)) {
      if (known) {
        new ControlFlow(model, frame, scope).run(node);
        scope.requireOutputs();
      }
      return;
    }
    if (Sequences.handles(key, scope)) {
      if (known) {
        Sequences.run(node, scope);
        scope.requireOutputs();
      }
      return;
    }
    OperatorImporter importer = find(key.domain(), node.getOpType(), scope);
    if (known) {
      scope.requireTensors();
      importer.convert(scope);
      scope.requireOutputs();
    }
  }

  private OperatorImporter find(String domain, String operator, NodeImport scope) {
    OperatorRegistry registry = model.registry();
    Optional<OperatorImporter> importer = registry.find(domain, operator, scope.opset());
    if (importer.isPresent()) {
      return importer.get();
    }
    if (registry.since(domain, operator).isPresent()) {
      throw new PartitaException(
          ImportCode.UNSUPPORTED_VERSION,
          scope.where(),
          "version "
              + registry.since(domain, operator).getAsInt()
              + " or later of "
              + Domains.display(domain),
          scope.opset() == 0
              ? "the model doesn't import " + Domains.display(domain)
              : "version " + scope.opset(),
          "export the model with a newer opset_version");
    }
    throw new PartitaException(
        ImportCode.UNSUPPORTED_OPERATOR,
        scope.where(),
        "a supported operator",
        Domains.display(domain) + "." + operator + operandTypes(scope),
        "export the model without it, or as a model-local function");
  }

  private static String operandTypes(NodeImport scope) {
    List<String> types = scope.operandTypes();
    return types.isEmpty() ? "" : " of " + String.join(", ", types);
  }
}
