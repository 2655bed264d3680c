package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A model of a few nodes that is written to a file and imported. */
public final class ModelSketch {
  private final GraphProto.Builder graph = GraphProto.newBuilder().setName("sketch");
  private final ModelProto.Builder model = ModelProto.newBuilder().setIrVersion(10);

  public ModelSketch(int opset) {
    model.addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("").setVersion(opset));
  }

  public ModelSketch importing(String domain) {
    model.addOpsetImport(OperatorSetIdProto.newBuilder().setDomain(domain).setVersion(1));
    return this;
  }

  private static int number(TensorType type) {
    for (int number = 1; number < 30; number++) {
      if (OnnxElements.element(number).filter(type.element()::equals).isPresent()) {
        return number;
      }
    }
    throw new AssertionError(type);
  }

  private static ValueInfoProto info(String name, TensorType type) {
    TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
    for (long extent : type.shape().extents()) {
      shape.addDim(TensorShapeProto.Dimension.newBuilder().setDimValue(extent));
    }
    TypeProto.Tensor.Builder tensor =
        TypeProto.Tensor.newBuilder().setElemType(number(type)).setShape(shape);
    return ValueInfoProto.newBuilder()
        .setName(name)
        .setType(TypeProto.newBuilder().setTensorType(tensor))
        .build();
  }

  private static TensorProto proto(String name, Tensor data) {
    TensorProto.Builder proto =
        TensorProto.newBuilder().setName(name).setDataType(number(data.type()));
    for (long extent : data.shape().extents()) {
      proto.addDims(extent);
    }
    return proto
        .setRawData(ByteString.copyFrom(data.bytes().toArray(ValueLayout.JAVA_BYTE)))
        .build();
  }

  public ModelSketch input(String name, TensorType type) {
    graph.addInput(info(name, type));
    return this;
  }

  public ModelSketch initializer(String name, Tensor data) {
    graph.addInitializer(proto(name, data));
    return this;
  }

  public ModelSketch output(String name, TensorType type) {
    graph.addOutput(info(name, type));
    return this;
  }

  public static AttributeProto integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value)
        .build();
  }

  public static AttributeProto text(String name, String value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.STRING)
        .setS(ByteString.copyFromUtf8(value))
        .build();
  }

  public static AttributeProto number(String name, double value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.FLOAT)
        .setF((float) value)
        .build();
  }

  public static AttributeProto tensor(String name, Tensor value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.TENSOR)
        .setT(proto("", value))
        .build();
  }

  /** A subgraph whose inputs and outputs have no types. */
  public static AttributeProto subgraph(
      String name, List<String> inputs, List<String> outputs, NodeProto... nodes) {
    GraphProto.Builder graph = GraphProto.newBuilder().setName(name);
    inputs.forEach(input -> graph.addInputBuilder().setName(input));
    outputs.forEach(output -> graph.addOutputBuilder().setName(output));
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.GRAPH)
        .setG(graph.addAllNode(List.of(nodes)))
        .build();
  }

  public static NodeProto inner(
      String domain, String operator, List<String> inputs, String output) {
    return inner(domain, operator, inputs, List.of(output));
  }

  public static NodeProto inner(
      String domain,
      String operator,
      List<String> inputs,
      List<String> outputs,
      AttributeProto... with) {
    return NodeProto.newBuilder()
        .setName(operator)
        .setDomain(domain)
        .setOpType(operator)
        .addAllInput(inputs)
        .addAllOutput(outputs)
        .addAllAttribute(List.of(with))
        .build();
  }

  public ModelSketch node(
      String domain, String operator, List<String> inputs, String output, AttributeProto... with) {
    return with(inner(domain, operator, inputs, List.of(output), with));
  }

  public ModelSketch with(NodeProto node) {
    graph.addNode(node);
    return this;
  }

  /** Writes a file in {@code folder}. */
  public Path written(Path folder) {
    Path file = folder.resolve("model.onnx");
    try {
      Files.write(file, model.setGraph(graph).build().toByteArray());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return file;
  }

  /** Writes a file in {@code folder} and imports it. */
  public Graph imported(Path folder) {
    OnnxModel read = OnnxModel.read(written(folder));
    return new OnnxImporter(ImportOptions.NONE).importModel(read).graph();
  }

  public Tensor run(Path folder, Tensor... inputs) {
    return Evaluator.run(imported(folder), List.of(inputs)).getFirst();
  }
}
