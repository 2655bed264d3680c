package io.partita.tests.hostile;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import java.util.Arrays;

/** Shorthands for ONNX messages, which may be invalid. */
final class Onnx {
  static final int FLOAT = 1;
  static final int INT64 = 7;

  private Onnx() {}

  static ModelProto.Builder model(GraphProto.Builder graph) {
    return ModelProto.newBuilder().setIrVersion(8).setGraph(graph).addOpsetImport(opset("", 18));
  }

  static OperatorSetIdProto opset(String domain, long version) {
    return OperatorSetIdProto.newBuilder().setDomain(domain).setVersion(version).build();
  }

  /** Returns a graph with an input x f32[2,3] and an output y. */
  static GraphProto.Builder graph(NodeProto.Builder... nodes) {
    GraphProto.Builder graph = GraphProto.newBuilder().setName("g");
    graph.addInput(value("x", FLOAT, 2, 3)).addOutput(value("y", FLOAT));
    Arrays.stream(nodes).forEach(graph::addNode);
    return graph;
  }

  static ValueInfoProto.Builder value(String name, int element, long... dims) {
    ValueInfoProto.Builder value = ValueInfoProto.newBuilder().setName(name);
    var type = value.getTypeBuilder().getTensorTypeBuilder().setElemType(element);
    type.getShapeBuilder();
    for (long dim : dims) {
      type.getShapeBuilder().addDimBuilder().setDimValue(dim);
    }
    return value;
  }

  /**
   * @param names comma-separated inputs, an arrow, comma-separated outputs
   */
  static NodeProto.Builder node(String operator, String names, AttributeProto.Builder... more) {
    NodeProto.Builder node = NodeProto.newBuilder().setOpType(operator);
    int arrow = names.indexOf("->");
    String[] sides = {names.substring(0, arrow), names.substring(arrow + 2)};
    if (!sides[0].isEmpty()) {
      node.addAllInput(Arrays.asList(sides[0].split(",", -1)));
    }
    node.addAllOutput(Arrays.asList(sides[1].split(",", -1)));
    Arrays.stream(more).forEach(node::addAttribute);
    return node;
  }

  static AttributeProto.Builder integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value);
  }

  static AttributeProto.Builder text(String name, String value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.STRING)
        .setS(ByteString.copyFromUtf8(value));
  }

  static AttributeProto.Builder integers(String name, long... values) {
    AttributeProto.Builder attribute =
        AttributeProto.newBuilder().setName(name).setType(AttributeProto.AttributeType.INTS);
    Arrays.stream(values).forEach(attribute::addInts);
    return attribute;
  }

  static AttributeProto.Builder subgraph(String name, GraphProto.Builder graph) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.GRAPH)
        .setG(graph);
  }

  /** Returns a graph without inputs. */
  static GraphProto.Builder branch(String output, NodeProto.Builder... nodes) {
    GraphProto.Builder graph = GraphProto.newBuilder().setName("branch");
    Arrays.stream(nodes).forEach(graph::addNode);
    return graph.addOutput(value(output, FLOAT));
  }

  static FunctionProto.Builder function(String name, NodeProto.Builder... nodes) {
    FunctionProto.Builder function =
        FunctionProto.newBuilder().setDomain("local").setName(name).addInput("a").addOutput("b");
    Arrays.stream(nodes).forEach(function::addNode);
    return function.addOpsetImport(opset("", 18)).addOpsetImport(opset("local", 1));
  }

  static NodeProto.Builder call(String function, String names) {
    return node(function, names).setDomain("local");
  }

  /** A vector. */
  static TensorProto.Builder longs(String name, long... values) {
    TensorProto.Builder tensor =
        TensorProto.newBuilder().setName(name).setDataType(INT64).addDims(values.length);
    Arrays.stream(values).forEach(tensor::addInt64Data);
    return tensor;
  }

  static TensorProto.Builder real(String name, float value) {
    return TensorProto.newBuilder().setName(name).setDataType(FLOAT).addFloatData(value);
  }

  static TensorProto.Builder raw(String name, int element, int bytes, long... dims) {
    TensorProto.Builder tensor = TensorProto.newBuilder().setName(name).setDataType(element);
    Arrays.stream(dims).forEach(tensor::addDims);
    return tensor.setRawData(ByteString.copyFrom(new byte[bytes]));
  }

  /**
   * @param entries alternating keys and values
   */
  static TensorProto.Builder external(String name, String... entries) {
    TensorProto.Builder tensor =
        TensorProto.newBuilder()
            .setName(name)
            .setDataType(FLOAT)
            .addDims(2)
            .addDims(3)
            .setDataLocation(TensorProto.DataLocation.EXTERNAL);
    for (int i = 0; i < entries.length; i += 2) {
      tensor.addExternalDataBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    return tensor;
  }
}
