package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.frontend.onnx.OnnxModel;
import java.util.Optional;
import java.util.Set;

/**
 * Upgrades a model from operator set 13 or newer: attributes that became operands, and attributes
 * that are now required.
 */
final class OperatorSetUpgrade {
  /** Their axes are an operand since version 18; those of {@code ReduceSum} since 13. */
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

  /** Their meaning or attributes changed in another way. */
  private static final Set<String> CHANGED =
      Set.of(
          "GroupNormalization",
          "GridSample",
          "DFT",
          "BatchNormalization",
          "Resize",
          "Pad",
          "Loop",
          "If",
          "Scan");

  private final ModelProto.Builder model;
  private final String where;
  private int axes;

  private OperatorSetUpgrade(ModelProto.Builder model, String where) {
    this.model = model;
    this.where = where;
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#OPERATOR_SET} if a
   *     node can't be upgraded
   */
  static void to(int version, ModelProto.Builder model, OnnxModel source) {
    int given = source.operatorSets().getOrDefault("", 1);
    if (given >= version) {
      return;
    }
    OperatorSetUpgrade upgrade = new OperatorSetUpgrade(model, source.path().toString());
    upgrade.nodes(given, version);
    for (int i = 0; i < model.getOpsetImportCount(); i++) {
      OperatorSetIdProto set = model.getOpsetImport(i);
      if (set.getDomain().isEmpty() || set.getDomain().equals("ai.onnx")) {
        model.setOpsetImport(i, set.toBuilder().setVersion(version));
      }
    }
  }

  private void nodes(int given, int version) {
    GraphProto.Builder graph = model.getGraphBuilder();
    for (int i = 0; i < graph.getNodeCount(); i++) {
      NodeProto node = graph.getNode(i);
      if (CHANGED.contains(node.getOpType()) || model.getFunctionsCount() > 0) {
        throw QuantizeCode.OPERATOR_SET.at(
            where + ", node \"" + node.getName() + "\"",
            "a model in operator set " + version + ", which has integers of 4 bits",
            "operator set " + given + ", and " + node.getOpType() + ", which changed since",
            "export the model with opset_version=" + version);
      }
      if (REDUCTIONS.contains(node.getOpType()) && given < 18) {
        graph.setNode(i, withOperand(node, graph));
      } else if (node.getOpType().equals("Split") && given < 18 && node.getInputCount() == 1) {
        graph.setNode(
            i,
            node.toBuilder()
                .addAttribute(QuantizedGraph.integer("num_outputs", node.getOutputCount())));
      }
    }
  }

  private NodeProto withOperand(NodeProto node, GraphProto.Builder graph) {
    Optional<AttributeProto> list = QuantizableModel.attribute(node, "axes");
    if (list.isEmpty()) {
      return node;
    }
    String name = node.getOutput(0) + "_axes_" + axes++;
    TensorProto.Builder tensor =
        TensorProto.newBuilder()
            .setName(name)
            .setDataType(TensorProto.DataType.INT64.getNumber())
            .addDims(list.get().getIntsCount())
            .addAllInt64Data(list.get().getIntsList());
    graph.addInitializer(tensor);
    NodeProto.Builder changed = node.toBuilder().addInput(name);
    for (int i = changed.getAttributeCount() - 1; i >= 0; i--) {
      if (changed.getAttribute(i).getName().equals("axes")) {
        changed.removeAttribute(i);
      }
    }
    return changed.build();
  }
}
