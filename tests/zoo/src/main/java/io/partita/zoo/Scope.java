package io.partita.zoo;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.zoo.Weight.Use;
import java.util.ArrayList;
import java.util.List;

/**
 * A module of the exported program, such as {@code /model/layers.0/self_attn}: a prefix for the
 * names of its nodes. Each operation takes and gives value names.
 */
record Scope(OnnxGraph graph, String path) {
  /**
   * The deviation of norm scales from 1 and of biases from 0, large enough to notice a missing one.
   */
  private static final double SCALE_DEVIATION = 0.1;

  private static final double BIAS_DEVIATION = 0.02;

  Scope in(String module) {
    return new Scope(graph, path + "/" + module);
  }

  /** A weight of this module, normal around 0. */
  String weight(String name, Use use, double deviation, long... shape) {
    return declare(name, use, new Fill.Normal(0, deviation), shape);
  }

  /** A weight of this module; its name is the module's path and its own with dots. */
  String declare(String name, Use use, Fill fill, long... shape) {
    String prefix = path.isEmpty() ? "" : path.substring(1).replace('/', '.') + ".";
    List<Long> dims = new ArrayList<>();
    for (long dim : shape) {
      dims.add(dim);
    }
    return graph.weight(new Weight(prefix + name, dims, use, fill));
  }

  /** {@code x W}, with W {@code [inputs, outputs]} of deviation 1/sqrt(inputs). */
  String project(String x, int inputs, int outputs) {
    return matMul(x, weight("weight", Use.MATRIX, 1 / StrictMath.sqrt(inputs), inputs, outputs));
  }

  /** {@code x W + b}. */
  String linear(String x, int inputs, int outputs) {
    return add(project(x, inputs, outputs), bias(outputs));
  }

  String bias(int size) {
    return weight("bias", Use.VECTOR, BIAS_DEVIATION, size);
  }

  private String scale(int size) {
    return declare("weight", Use.VECTOR, new Fill.Normal(1, SCALE_DEVIATION), size);
  }

  /** Rows of a table of deviation 1/sqrt(size), so that tied logits have a deviation near 1. */
  String embedding(String ids, int rows, int size) {
    String table = weight("weight", Use.TABLE, 1 / StrictMath.sqrt(size), rows, size);
    return gather(table, ids, 0);
  }

  /** {@code x / sqrt(mean(x^2) + epsilon) * scale} as Hugging Face's LlamaRMSNorm exports. */
  String rmsNorm(String x, int size, float epsilon) {
    String mean = reduceMean(pow(x, 2));
    String deviation = op("Sqrt", add(mean, graph.constant(epsilon)));
    String inverse = op("Div", graph.constant(1f), deviation);
    return mul(scale(size), mul(x, inverse));
  }

  String layerNorm(String x, int size, float epsilon) {
    return node(
        "LayerNormalization",
        List.of(x, scale(size), bias(size)),
        integer("axis", -1),
        number("epsilon", epsilon));
  }

  /** The exact GELU, {@code x * (1 + erf(x / sqrt 2)) / 2}. */
  String gelu(String x) {
    String erf = op("Erf", op("Div", x, graph.constant((float) StrictMath.sqrt(2))));
    return mul(mul(x, add(erf, graph.constant(1f))), graph.constant(0.5f));
  }

  /** GPT-2's GELU, {@code x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))}. */
  String geluTanh(String x) {
    String cubic = add(x, mul(pow(x, 3), graph.constant(0.044715f)));
    String tanh = op("Tanh", mul(cubic, graph.constant((float) StrictMath.sqrt(2 / Math.PI))));
    return mul(mul(x, graph.constant(0.5f)), add(tanh, graph.constant(1f)));
  }

  String silu(String x) {
    return mul(x, op("Sigmoid", x));
  }

  String add(String a, String b) {
    return op("Add", a, b);
  }

  String mul(String a, String b) {
    return op("Mul", a, b);
  }

  String matMul(String a, String b) {
    return op("MatMul", a, b);
  }

  String pow(String x, float exponent) {
    return op("Pow", x, graph.constant(exponent));
  }

  /** The mean over the last axis, which is kept. */
  String reduceMean(String x) {
    return node("ReduceMean", List.of(x, graph.vector(-1)), integer("keepdims", 1));
  }

  String softmax(String x) {
    return node("Softmax", List.of(x), integer("axis", -1));
  }

  String gather(String table, String indices, int axis) {
    return node("Gather", List.of(table, indices), integer("axis", axis));
  }

  String reshape(String x, long... shape) {
    return op("Reshape", x, graph.vector(shape));
  }

  String transpose(String x, long... permutation) {
    return node("Transpose", List.of(x), integers("perm", permutation));
  }

  String unsqueeze(String x, long axis) {
    return op("Unsqueeze", x, graph.vector(axis));
  }

  String concat(int axis, String... parts) {
    return node("Concat", List.of(parts), integer("axis", axis));
  }

  /** Elements {@code start} to {@code end} of an axis. */
  String slice(String x, long axis, long start, long end) {
    return op(
        "Slice", x, graph.vector(start), graph.vector(end), graph.vector(axis), graph.vector(1));
  }

  List<String> split(String x, int axis, long... sizes) {
    return graph.node(
        path,
        "Split",
        List.of(x, graph.vector(sizes)),
        sizes.length,
        List.of(integer("axis", axis)));
  }

  /** Length of an axis of {@code x}, an i64 of rank 0. */
  String length(String x, int axis) {
    return gather(op("Shape", x), graph.scalar(axis), 0);
  }

  /** Zeros, i64, of the shape of {@code x}. */
  String zerosLike(String x) {
    TensorProto zero =
        TensorProto.newBuilder().addDims(1).setDataType(OnnxGraph.INT64).addInt64Data(0).build();
    AttributeProto value =
        AttributeProto.newBuilder()
            .setName("value")
            .setType(AttributeProto.AttributeType.TENSOR)
            .setT(zero)
            .build();
    return node("ConstantOfShape", List.of(op("Shape", x)), value);
  }

  /** A node without attributes. */
  String op(String type, String... operands) {
    return node(type, List.of(operands));
  }

  String node(String type, List<String> operands, AttributeProto... attributes) {
    return graph.node(path, type, operands, 1, List.of(attributes)).getFirst();
  }

  static AttributeProto integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value)
        .build();
  }

  static AttributeProto integers(String name, long... values) {
    AttributeProto.Builder attribute =
        AttributeProto.newBuilder().setName(name).setType(AttributeProto.AttributeType.INTS);
    for (long value : values) {
      attribute.addInts(value);
    }
    return attribute.build();
  }

  static AttributeProto number(String name, float value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.FLOAT)
        .setF(value)
        .build();
  }
}
