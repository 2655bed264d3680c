package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Collects the external data locations of the tensors of a model. */
final class DataLocations {
  private final SortedSet<String> locations = new TreeSet<>();

  private DataLocations() {}

  /** Returns the paths relative to the model's folder, in order. */
  static SortedSet<String> of(ModelProto model) {
    DataLocations collected = new DataLocations();
    collected.addGraph(model.getGraph());
    for (FunctionProto function : model.getFunctionsList()) {
      collected.addNodes(function.getNodeList());
    }
    return collected.locations;
  }

  private void addGraph(GraphProto graph) {
    graph.getInitializerList().forEach(this::addTensor);
    addNodes(graph.getNodeList());
  }

  private void addNodes(List<NodeProto> nodes) {
    for (NodeProto node : nodes) {
      for (var attribute : node.getAttributeList()) {
        if (attribute.hasT()) {
          addTensor(attribute.getT());
        }
        attribute.getTensorsList().forEach(this::addTensor);
        if (attribute.hasG()) {
          addGraph(attribute.getG());
        }
        attribute.getGraphsList().forEach(this::addGraph);
      }
    }
  }

  private void addTensor(TensorProto tensor) {
    if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
      for (StringStringEntryProto entry : tensor.getExternalDataList()) {
        if (entry.getKey().equals("location")) {
          locations.add(entry.getValue());
        }
      }
    }
  }
}
