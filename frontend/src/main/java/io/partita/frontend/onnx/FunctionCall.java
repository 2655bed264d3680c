package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import com.google.protobuf.UnknownFieldSet;
import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Inlines the body of a model-local function. */
final class FunctionCall {
  private static final int MAX_DEPTH = 64;

  /**
   * The field numbers of {@code overload}, which IR version 10 added, after the version of the
   * parser.
   */
  private static final int NODE_OVERLOAD = 8;

  private static final int FUNCTION_OVERLOAD = 13;

  private final ModelImport model;

  private final Frame frame;
  private final Frame.FunctionKey key;
  private final FunctionProto function;

  FunctionCall(ModelImport model, Frame frame, Frame.FunctionKey key, FunctionProto function) {
    this.model = model;
    this.frame = frame;
    this.key = key;
    this.function = function;
  }

  static Frame.FunctionKey key(NodeProto node) {
    return new Frame.FunctionKey(
        Domains.canonical(node.getDomain()),
        node.getOpType(),
        text(node.getUnknownFields(), NODE_OVERLOAD));
  }

  static Frame.FunctionKey key(FunctionProto function) {
    return new Frame.FunctionKey(
        Domains.canonical(function.getDomain()),
        function.getName(),
        text(function.getUnknownFields(), FUNCTION_OVERLOAD));
  }

  private static String text(UnknownFieldSet fields, int number) {
    var values = fields.getField(number).getLengthDelimitedList();
    return values.isEmpty() ? "" : values.getLast().toStringUtf8();
  }

  void run(NodeProto node, NodeImport scope) {
    if (frame.calls().contains(key) || frame.calls().size() >= MAX_DEPTH) {
      throw new PartitaException(
          ImportCode.FUNCTION_RECURSION,
          scope.where(),
          "functions without recursion, nested at most " + MAX_DEPTH + " deep",
          frame.calls().stream().limit(4).map(call -> call + " -> ").reduce("", String::concat)
              + key,
          "export the model with its functions inlined");
    }
    if (node.getInputCount() > function.getInputCount()) {
      throw scope.invalid(
          "at most " + function.getInputCount() + " operands",
          Integer.toString(node.getInputCount()));
    }
    model.countExpansion(scope, function);
    NameScope names = new NameScope(null);
    for (int i = 0; i < function.getInputCount(); i++) {
      String given = i < node.getInputCount() ? node.getInput(i) : "";
      NameScope.Binding binding = given.isEmpty() ? null : frame.names().find(given);
      names.bind(function.getInput(i), binding == null ? new NameScope.Absent() : binding);
    }
    Map<String, AttributeProto> attributes =
        Attributes.withDefaults(Attributes.of(node, frame), function.getAttributeProtoList());
    List<Frame.FunctionKey> calls = new ArrayList<>(frame.calls());
    calls.add(key);
    Frame body =
        new Frame(
            names,
            operatorSets(),
            attributes,
            Map.of(),
            List.copyOf(calls),
            frame.prefix() + scope.name() + "/");
    new NodeSequence(model, body).run(function.getNodeList(), "function " + key + ", ");
    bindResults(node, names, scope);
  }

  /** Domains without a version in the function have the version of the caller. */
  private Map<String, Integer> operatorSets() {
    Map<String, Integer> versions = new HashMap<>(frame.operatorSets());
    versions.putAll(model.operatorSets(function.getOpsetImportList(), "function " + key));
    return versions;
  }

  private void bindResults(NodeProto node, NameScope names, NodeImport scope) {
    for (int i = 0; i < Math.min(node.getOutputCount(), function.getOutputCount()); i++) {
      switch (names.find(function.getOutput(i))) {
        case NameScope.Given given -> scope.bindResult(i, given);
        case NameScope.Sequence sequence -> scope.bindResult(i, sequence);
        case NameScope.Unknown unknown -> {}
        case NameScope.Absent absent ->
            model.reportUndefined("function " + key, function.getOutput(i));
        case null -> model.reportUndefined("function " + key, function.getOutput(i));
      }
    }
  }
}
