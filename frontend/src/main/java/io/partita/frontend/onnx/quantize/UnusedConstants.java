package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Removes the float matrices that no node reads after quantization. */
final class UnusedConstants {
  private static final Set<String> CONSTANT = Set.of("Constant", "Transpose", "Identity");

  private UnusedConstants() {}

  static GraphProto.Builder removed(GraphProto.Builder graph) {
    Set<String> kept = new HashSet<>();
    graph.getOutputList().stream().map(ValueInfoProto::getName).forEach(kept::add);
    List<NodeProto> nodes = new ArrayList<>();
    for (NodeProto node : graph.getNodeList().reversed()) {
      boolean isUsed =
          !CONSTANT.contains(node.getOpType())
              || node.getOutputList().stream().anyMatch(kept::contains);
      if (isUsed) {
        nodes.add(node);
        read(node, kept);
      }
    }
    List<TensorProto> constants =
        graph.getInitializerList().stream().filter(each -> kept.contains(each.getName())).toList();
    return graph
        .clearNode()
        .addAllNode(nodes.reversed())
        .clearInitializer()
        .addAllInitializer(constants);
  }

  /** Adds the names that a node reads, also within its branches. */
  private static void read(NodeProto node, Set<String> names) {
    names.addAll(node.getInputList());
    for (AttributeProto attribute : node.getAttributeList()) {
      if (attribute.hasG()) {
        read(attribute.getG(), names);
      }
      attribute.getGraphsList().forEach(graph -> read(graph, names));
    }
  }

  private static void read(GraphProto graph, Set<String> names) {
    graph.getOutputList().stream().map(ValueInfoProto::getName).forEach(names::add);
    graph.getNodeList().forEach(node -> read(node, names));
  }
}
