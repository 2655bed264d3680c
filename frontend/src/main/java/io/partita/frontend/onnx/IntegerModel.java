package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import io.partita.frontend.onnx.operator.IntegerOperators;
import io.partita.frontend.onnx.operator.PulpOperators;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Assigns integer types to networks with integers in float tensors, which quantlib and Deeploy
 * write: i32 everywhere, and the narrowest type for weights of products. Their arithmetic is exact,
 * while f32 would round.
 *
 * <p>A model is such a network if it has an operator of that family or its recorded data are
 * integral, and all its constants are integral, and every operator maps integers to integers.
 */
final class IntegerModel {
  private static final Set<String> CLOSED =
      Set.of(
          "Abs",
          "Add",
          "Cast",
          "Clip",
          "Concat",
          "Constant",
          "ConstantOfShape",
          "Conv",
          "Dropout",
          "Expand",
          "Flatten",
          "Gather",
          "Gemm",
          "Identity",
          "MatMul",
          "Max",
          "MaxPool",
          "Min",
          "Mul",
          "Neg",
          "Pad",
          "ReduceMax",
          "ReduceMean",
          "ReduceMin",
          "ReduceSum",
          "Relu",
          "Reshape",
          "Shape",
          "Slice",
          "Split",
          "Squeeze",
          "Sub",
          "Sum",
          "Tile",
          "Transpose",
          "Unsqueeze");

  private final ModelProto model;
  private final TensorReader tensors;

  /** The integral values of float constants, by name. */
  private final Map<String, Tensor> integers = new HashMap<>();

  /** Values with other uses than operands of products. */
  private final Set<String> wide = new HashSet<>();

  private IntegerModel(ModelProto model, TensorReader tensors) {
    this.model = model;
    this.tensors = tensors;
  }

  /**
   * Returns the model with integer types if it is an integer network; otherwise the same model.
   *
   * @param integerData whether its recorded data are integral
   */
  static ModelProto retyped(ModelProto model, TensorReader tensors, boolean integerData) {
    GraphProto graph = model.getGraph();
    boolean integer = integerData;
    for (NodeProto node : graph.getNodeList()) {
      boolean pulp = PulpOperators.isInteger(node.getOpType());
      integer |= pulp;
      boolean standard = Domains.canonical(node.getDomain()).isEmpty();
      if (!pulp && !(standard && CLOSED.contains(node.getOpType()))) {
        return model;
      }
    }
    IntegerModel network = new IntegerModel(model, tensors);
    return integer && network.readConstants() ? network.retyped() : model;
  }

  /** Whether all used float constants are integral and fit i32. */
  private boolean readConstants() {
    GraphProto graph = model.getGraph();
    Set<String> read = new HashSet<>();
    for (NodeProto node : graph.getNodeList()) {
      boolean product =
          IntegerOperators.has(node.getOpType()) && !node.getOpType().equals("ReduceMean");
      for (int i = 0; i < node.getInputCount(); i++) {
        read.add(node.getInput(i));
        if (!product || i > 1) {
          wide.add(node.getInput(i));
        }
      }
    }
    graph.getOutputList().forEach(output -> wide.add(output.getName()));
    read.addAll(wide);
    for (TensorProto initializer : graph.getInitializerList()) {
      if (isFloat(initializer.getDataType()) && read.contains(initializer.getName())) {
        Optional<Tensor> data = integral(initializer);
        if (data.isEmpty()) {
          return false;
        }
        integers.put(initializer.getName(), data.get());
      }
    }
    return graph.getNodeList().stream()
        .filter(node -> node.getOpType().startsWith("Constant"))
        .flatMap(node -> node.getAttributeList().stream())
        .allMatch(this::isIntegral);
  }

  private boolean isIntegral(AttributeProto attribute) {
    return attribute.hasT()
        ? !isFloat(attribute.getT().getDataType()) || integral(attribute.getT()).isPresent()
        : !attribute.hasF() && attribute.getFloatsCount() == 0;
  }

  private static boolean isFloat(int type) {
    return OnnxElements.element(type).map(ElementType::isFloat).orElse(false);
  }

  /** Returns the tensor as i64 if each value is an integer that fits i32. */
  private Optional<Tensor> integral(TensorProto proto) {
    Tensor data = tensors.read("tensor \"" + proto.getName() + "\"", proto);
    long[] values = new long[data.size()];
    for (int i = 0; i < values.length; i++) {
      double value = data.getDouble(i);
      values[i] = (long) value;
      if (values[i] != value || values[i] != (int) values[i]) {
        return Optional.empty();
      }
    }
    return Optional.of(Tensor.longs(data.shape(), values));
  }

  private ModelProto retyped() {
    GraphProto.Builder graph = model.getGraph().toBuilder();
    for (int i = 0; i < graph.getInitializerCount(); i++) {
      TensorProto proto = graph.getInitializer(i);
      Tensor data = integers.get(proto.getName());
      if (data != null) {
        ElementType element = wide.contains(proto.getName()) ? ElementType.I32 : narrowest(data);
        graph.setInitializer(i, tensor(proto, data, element));
      }
    }
    graph.getInputBuilderList().forEach(IntegerModel::retype);
    graph.getOutputBuilderList().forEach(IntegerModel::retype);
    graph.getValueInfoBuilderList().forEach(IntegerModel::retype);
    for (int i = 0; i < graph.getNodeCount(); i++) {
      graph.setNode(i, retyped(graph.getNode(i)));
    }
    return model.toBuilder().setGraph(graph).build();
  }

  private static ElementType narrowest(Tensor data) {
    long least = 0;
    long most = 0;
    for (int i = 0; i < data.size(); i++) {
      least = Math.min(least, data.getLong(i));
      most = Math.max(most, data.getLong(i));
    }
    if (least >= Byte.MIN_VALUE && most <= Byte.MAX_VALUE) {
      return ElementType.I8;
    }
    return least >= Short.MIN_VALUE && most <= Short.MAX_VALUE ? ElementType.I16 : ElementType.I32;
  }

  private static TensorProto tensor(TensorProto proto, Tensor data, ElementType element) {
    Tensor narrowed = Tensor.ofLongs(data.type().with(element), data.longs());
    return TensorProto.newBuilder()
        .setName(proto.getName())
        .addAllDims(proto.getDimsList())
        .setDataType(number(element))
        .setRawData(ByteString.copyFrom(narrowed.bytes().toArray(ValueLayout.JAVA_BYTE)))
        .build();
  }

  /** Returns the ONNX number of an assigned type. */
  private static int number(ElementType element) {
    return switch (element) {
      case I8 -> TensorProto.DataType.INT8_VALUE;
      case I16 -> TensorProto.DataType.INT16_VALUE;
      default -> TensorProto.DataType.INT32_VALUE;
    };
  }

  private static void retype(ValueInfoProto.Builder info) {
    if (info.getType().hasTensorType() && isFloat(info.getType().getTensorType().getElemType())) {
      info.getTypeBuilder().getTensorTypeBuilder().setElemType(TensorProto.DataType.INT32_VALUE);
    }
  }

  private NodeProto retyped(NodeProto node) {
    NodeProto.Builder changed = node.toBuilder();
    if (IntegerOperators.has(node.getOpType())) {
      changed.setDomain(IntegerOperators.DOMAIN);
    }
    for (int i = 0; i < changed.getAttributeCount(); i++) {
      AttributeProto attribute = changed.getAttribute(i);
      if (attribute.hasT() && isFloat(attribute.getT().getDataType())) {
        Tensor data = integral(attribute.getT()).orElse(null);
        if (data != null) {
          TensorProto tensor = tensor(attribute.getT(), data, ElementType.I32);
          changed.setAttribute(i, attribute.toBuilder().setT(tensor));
        }
      } else if (node.getOpType().equals("Cast")
          && attribute.getName().equals("to")
          && isFloat((int) attribute.getI())) {
        changed.setAttribute(i, attribute.toBuilder().setI(TensorProto.DataType.INT32_VALUE));
      }
    }
    return changed.build();
  }
}
