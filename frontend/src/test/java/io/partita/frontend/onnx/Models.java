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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes small ONNX models for tests. */
final class Models {
  static final int FLOAT = 1;
  static final int INT64 = 7;

  private Models() {}

  static NodeProto.Builder node(String operator, List<String> inputs, String... outputs) {
    return NodeProto.newBuilder()
        .setOpType(operator)
        .setName("the_" + operator)
        .addAllInput(inputs)
        .addAllOutput(List.of(outputs));
  }

  static AttributeProto integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value)
        .build();
  }

  static AttributeProto graph(String name, GraphProto value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.GRAPH)
        .setG(value)
        .build();
  }

  /** A value; dimensions are numbers or names. */
  static ValueInfoProto value(String name, int element, Object... dims) {
    TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
    for (Object dim : dims) {
      TensorShapeProto.Dimension.Builder dimension = TensorShapeProto.Dimension.newBuilder();
      shape.addDim(
          dim instanceof String text
              ? dimension.setDimParam(text)
              : dimension.setDimValue(((Number) dim).longValue()));
    }
    return ValueInfoProto.newBuilder()
        .setName(name)
        .setType(
            TypeProto.newBuilder()
                .setTensorType(TypeProto.Tensor.newBuilder().setElemType(element).setShape(shape)))
        .build();
  }

  static TensorProto floats(String name, List<Long> dims, float... data) {
    TensorProto.Builder tensor =
        TensorProto.newBuilder().setName(name).setDataType(FLOAT).addAllDims(dims);
    for (float number : data) {
      tensor.addFloatData(number);
    }
    return tensor.build();
  }

  static TensorProto longs(String name, List<Long> dims, Long... data) {
    return TensorProto.newBuilder()
        .setName(name)
        .setDataType(INT64)
        .addAllDims(dims)
        .addAllInt64Data(List.of(data))
        .build();
  }

  /** A graph from {@code x f32[2]} to {@code y}, without nodes. */
  static GraphProto.Builder graph() {
    return GraphProto.newBuilder()
        .setName("g")
        .addInput(value("x", FLOAT, 2))
        .addOutput(value("y", FLOAT, 2));
  }

  static ModelProto.Builder model(GraphProto.Builder graph) {
    return ModelProto.newBuilder()
        .setIrVersion(8)
        .setGraph(graph)
        .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("").setVersion(17));
  }

  static Path write(Path folder, ModelProto.Builder model) {
    return write(folder, model.build().toByteArray());
  }

  static Path write(Path folder, byte[] bytes) {
    try {
      return Files.write(folder.resolve("model.onnx"), bytes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
