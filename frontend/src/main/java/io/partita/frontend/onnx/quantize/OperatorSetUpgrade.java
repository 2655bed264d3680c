package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.PartitaException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Upgrades a model from operator set 11 or newer: attributes that became operands, attributes that
 * are now required, and softmaxes, which were of all dimensions from one on.
 */
final class OperatorSetUpgrade {
  /** Since this version, {@code DequantizeLinear} takes a scale for each column. */
  static final int COLUMN_VERSION = 13;

  /** A version that exporters write and other programs run. */
  static final int USUAL_VERSION = 17;

  /** The oldest version that can be upgraded. */
  static final int LEAST_VERSION = 11;

  /** The attribute that is an operand since version 13. */
  private static final Map<String, String> OPERANDS =
      Map.of("Squeeze", "axes", "Unsqueeze", "axes", "ReduceSum", "axes", "Split", "split");

  /** They are of one dimension since version 13. */
  private static final Set<String> SOFTMAXES = Set.of("Softmax", "LogSoftmax", "Hardmax");

  /** Nodes in their bodies aren't upgraded. */
  private static final Set<String> BODIES = Set.of("Loop", "If", "Scan");

  /** Their axes are an operand since version 18. */
  private static final Set<String> REDUCTIONS =
      Set.of(
          "ReduceMean",
          "ReduceMax",
          "ReduceMin",
          "ReduceProd",
          "ReduceL1",
          "ReduceL2",
          "ReduceLogSum",
          "ReduceLogSumExp",
          "ReduceSumSquare");

  /** Their meaning or attributes changed in another way after version 13. */
  private static final Set<String> CHANGED =
      Set.of("GroupNormalization", "GridSample", "DFT", "BatchNormalization", "Resize");

  private final ModelProto.Builder model;
  private final OnnxModel source;
  private final int given;
  private final int version;
  private int operands;

  private OperatorSetUpgrade(ModelProto.Builder model, OnnxModel source, int version) {
    this.model = model;
    this.source = source;
    this.given = version(source);
    this.version = version;
  }

  static int version(OnnxModel model) {
    return model.operatorSets().getOrDefault("", 1);
  }

  /**
   * Returns a model in an operator set, or in its own if that is newer.
   *
   * @throws io.partita.ir.diagnostic.PartitaException as {@link #to(int, ModelProto.Builder,
   *     OnnxModel)}
   */
  static OnnxModel to(int version, OnnxModel source) {
    ModelProto.Builder upgraded = source.proto().toBuilder();
    to(version, upgraded, source);
    return source.with(upgraded.build());
  }

  /**
   * @param source the model that was changed
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#OPERATOR_SET} if a
   *     node can't be upgraded
   */
  static void to(int version, ModelProto.Builder model, OnnxModel source) {
    if (version(source) >= version) {
      return;
    }
    new OperatorSetUpgrade(model, source, version).nodes();
    for (int i = 0; i < model.getOpsetImportCount(); i++) {
      OperatorSetIdProto set = model.getOpsetImport(i);
      if (set.getDomain().isEmpty() || set.getDomain().equals("ai.onnx")) {
        model.setOpsetImport(i, set.toBuilder().setVersion(version));
      }
    }
  }

  private void nodes() {
    GraphProto.Builder graph = model.getGraphBuilder();
    if (given < COLUMN_VERSION) {
      requireLastDimensions(graph);
    }
    for (int i = 0; i < graph.getNodeCount(); i++) {
      NodeProto node = graph.getNode(i);
      if (BODIES.contains(node.getOpType())
          || version > COLUMN_VERSION && CHANGED.contains(node.getOpType())
          || model.getFunctionsCount() > 0) {
        throw refused(node, node.getOpType() + ", which changed since");
      }
      if (given < COLUMN_VERSION && OPERANDS.containsKey(node.getOpType())) {
        graph.setNode(i, withOperand(node, OPERANDS.get(node.getOpType()), graph));
      } else if (given < 12 && node.getOpType().equals("Dropout")) {
        graph.setNode(i, without(node.toBuilder(), "ratio"));
      } else if (REDUCTIONS.contains(node.getOpType()) && given < 18 && version >= 18) {
        graph.setNode(i, withOperand(node, "axes", graph));
      }
      NodeProto.Builder current = graph.getNodeBuilder(i);
      if (node.getOpType().equals("Split")
          && given < 18
          && version >= 18
          && current.getInputCount() == 1) {
        current.addAttribute(QuantizedGraph.integer("num_outputs", node.getOutputCount()));
      }
    }
  }

  private PartitaException refused(NodeProto node, String found) {
    return QuantizeCode.OPERATOR_SET.at(
        source.path() + ", node \"" + node.getName() + "\"",
        "a model in operator set "
            + version
            + ", which has "
            + (version > COLUMN_VERSION ? "integers of 4 bits" : "scales for each column"),
        "operator set " + given + ", and " + found,
        "export the model with opset_version=" + Math.max(version, USUAL_VERSION));
  }

  /** Requires softmaxes of the last dimension only, which are the same as before. */
  private void requireLastDimensions(GraphProto.Builder graph) {
    SequencedMap<String, String> results = new LinkedHashMap<>();
    List<NodeProto> softmaxes =
        graph.getNodeList().stream().filter(node -> SOFTMAXES.contains(node.getOpType())).toList();
    softmaxes.forEach(
        node -> results.put("partita.softmax." + node.getOutput(0), node.getOutput(0)));
    Map<String, Integer> ranks = new HashMap<>();
    new OnnxImporter(ImportOptions.NONE.choosingNumbers())
        .examine(source.withOutputs(results))
        .module()
        .ifPresent(
            module ->
                module
                    .graph()
                    .outputs()
                    .forEach(
                        output ->
                            ranks.put(results.get(output.name()), output.value().type().rank())));
    for (NodeProto node : softmaxes) {
      long axis = QuantizableModel.attribute(node, "axis").map(AttributeProto::getI).orElse(1L);
      if (axis != -1 && axis != ranks.getOrDefault(node.getOutput(0), 0) - 1) {
        throw refused(
            node, "a " + node.getOpType() + " of the dimensions from " + axis + " on together");
      }
    }
  }

  private NodeProto withOperand(NodeProto node, String attribute, GraphProto.Builder graph) {
    Optional<AttributeProto> list = QuantizableModel.attribute(node, attribute);
    if (list.isEmpty()) {
      return node;
    }
    String name = node.getOutput(0) + "_" + attribute + "_" + operands++;
    TensorProto.Builder tensor =
        TensorProto.newBuilder()
            .setName(name)
            .setDataType(TensorProto.DataType.INT64.getNumber())
            .addDims(list.get().getIntsCount())
            .addAllInt64Data(list.get().getIntsList());
    graph.addInitializer(tensor);
    return without(node.toBuilder().addInput(name), attribute);
  }

  private static NodeProto without(NodeProto.Builder node, String attribute) {
    for (int i = node.getAttributeCount() - 1; i >= 0; i--) {
      if (node.getAttribute(i).getName().equals(attribute)) {
        node.removeAttribute(i);
      }
    }
    return node.build();
  }
}
