package io.partita.zoo;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An ONNX graph under construction, node by node, in execution order. */
final class OnnxGraph {
  static final int FLOAT = TensorProto.DataType.FLOAT_VALUE;
  static final int INT64 = TensorProto.DataType.INT64_VALUE;

  private record Node(
      String op,
      String name,
      List<String> inputs,
      List<String> outputs,
      List<AttributeProto> attributes) {}

  private final List<Node> nodes = new ArrayList<>();
  private final List<ValueInfoProto> inputs = new ArrayList<>();
  private final List<ValueInfoProto> outputs = new ArrayList<>();
  private final Map<String, Weight> weights = new LinkedHashMap<>();
  private final Map<TensorProto, String> constants = new LinkedHashMap<>();
  private final Map<String, Integer> nameUses = new HashMap<>();
  private final Map<String, String> outputNames = new HashMap<>();

  /** The graph's outermost scope. */
  Scope root() {
    return new Scope(this, "");
  }

  String input(String name, int elementType, Dim... shape) {
    inputs.add(valueInfo(name, elementType, shape));
    return name;
  }

  /** Makes a value a graph output, under another name. */
  void output(String name, String value, Dim... shape) {
    outputNames.put(value, name);
    outputs.add(valueInfo(name, FLOAT, shape));
  }

  /** Declares a weight, once. */
  String weight(Weight weight) {
    Weight declared = weights.putIfAbsent(weight.name(), weight);
    if (declared != null && !declared.equals(weight)) {
      throw new IllegalArgumentException("two weights of the name " + weight.name());
    }
    return weight.name();
  }

  String constant(float value) {
    return constant(FLOAT, List.of(), little(Float.BYTES).putFloat(value));
  }

  /** An i64 vector. */
  String vector(long... values) {
    ByteBuffer bytes = little(values.length * Long.BYTES);
    for (long value : values) {
      bytes.putLong(value);
    }
    return constant(INT64, List.of((long) values.length), bytes);
  }

  /** An i64 of rank 0. */
  String scalar(long value) {
    return constant(INT64, List.of(), little(Long.BYTES).putLong(value));
  }

  /** An i64 tensor of zeros. */
  String zeros(long... shape) {
    List<Long> dims = new ArrayList<>();
    int elements = 1;
    for (long dim : shape) {
      dims.add(dim);
      elements = Math.multiplyExact(elements, Math.toIntExact(dim));
    }
    return constant(INT64, dims, little(elements * Long.BYTES).position(elements * Long.BYTES));
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private String constant(int elementType, List<Long> shape, ByteBuffer bytes) {
    TensorProto tensor =
        TensorProto.newBuilder()
            .addAllDims(shape)
            .setDataType(elementType)
            .setRawData(ByteString.copyFrom(bytes.flip()))
            .build();
    return constants.computeIfAbsent(tensor, key -> "val_" + constants.size());
  }

  /** Appends a node; its outputs are named after it, as PyTorch's exporter does. */
  List<String> node(
      String scope,
      String op,
      List<String> operands,
      int outputCount,
      List<AttributeProto> attributes) {
    String path = scope + "/" + op;
    int uses = nameUses.merge(path, 1, Integer::sum);
    String name = uses == 1 ? path : path + "_" + (uses - 1);
    List<String> results = new ArrayList<>();
    for (int i = 0; i < outputCount; i++) {
      results.add(name + "_output_" + i);
    }
    nodes.add(new Node(op, name, operands, results, attributes));
    return results;
  }

  List<NodeProto> nodes() {
    return nodes.stream().map(this::nodeProto).toList();
  }

  private NodeProto nodeProto(Node node) {
    return NodeProto.newBuilder()
        .addAllInput(renamed(node.inputs))
        .addAllOutput(renamed(node.outputs))
        .setName(node.name)
        .setOpType(node.op)
        .addAllAttribute(node.attributes)
        .build();
  }

  private List<String> renamed(List<String> values) {
    return values.stream().map(value -> outputNames.getOrDefault(value, value)).toList();
  }

  List<ValueInfoProto> inputs() {
    return inputs;
  }

  List<ValueInfoProto> outputs() {
    return outputs;
  }

  /** In the order of their first use. */
  List<Weight> weights() {
    return List.copyOf(weights.values());
  }

  List<TensorProto> constants() {
    return constants.entrySet().stream()
        .map(entry -> entry.getKey().toBuilder().setName(entry.getValue()).build())
        .toList();
  }

  /** The number of learned parameters; a tied weight counts once. */
  long parameters() {
    return weights.values().stream()
        .filter(weight -> weight.use() != Weight.Use.BUFFER)
        .mapToLong(Weight::elements)
        .sum();
  }

  private static ValueInfoProto valueInfo(String name, int elementType, Dim... shape) {
    TensorShapeProto.Builder dims = TensorShapeProto.newBuilder();
    for (Dim dim : shape) {
      TensorShapeProto.Dimension.Builder proto = dims.addDimBuilder();
      dim.symbol().ifPresentOrElse(proto::setDimParam, () -> proto.setDimValue(dim.size()));
    }
    TypeProto.Tensor tensor =
        TypeProto.Tensor.newBuilder().setElemType(elementType).setShape(dims).build();
    return ValueInfoProto.newBuilder()
        .setName(name)
        .setType(TypeProto.newBuilder().setTensorType(tensor))
        .build();
  }
}
