package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** A float model and its products with trained matrices. */
public final class QuantizableModel {
  private static final Set<String> INTEGER_OPERATORS =
      Set.of(
          "QuantizeLinear",
          "DequantizeLinear",
          "DynamicQuantizeLinear",
          "MatMulInteger",
          "ConvInteger",
          "QLinearMatMul",
          "QLinearConv",
          "MatMulNBits",
          "QAttention",
          "RequantShift");

  private final OnnxModel model;
  private final Map<String, TensorProto> constants = new HashMap<>();

  /** The index of the node that computes each value. */
  private final Map<String, Integer> producers = new HashMap<>();

  /** The indices of the nodes that read each value, in order. */
  private final Map<String, List<Integer>> readers = new HashMap<>();

  private final List<Product> products = new ArrayList<>();

  private QuantizableModel(OnnxModel model) {
    this.model = model;
    GraphProto graph = model.proto().getGraph();
    graph.getInitializerList().forEach(tensor -> constants.put(tensor.getName(), tensor));
    for (int i = 0; i < graph.getNodeCount(); i++) {
      int index = i;
      NodeProto node = graph.getNode(i);
      node.getOutputList().forEach(output -> producers.put(output, index));
      for (String input : Set.copyOf(node.getInputList())) {
        readers.computeIfAbsent(input, name -> new ArrayList<>()).add(index);
      }
      if (node.getOpType().equals("Constant")) {
        attribute(node, "value").ifPresent(value -> constants.put(node.getOutput(0), value.getT()));
      }
    }
    for (int i = 0; i < graph.getNodeCount(); i++) {
      product(i, graph.getNode(i)).ifPresent(products::add);
    }
  }

  /**
   * Returns a model, in an operator set that has scales for each column.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode} if it can't be
   *     quantized
   */
  public static QuantizableModel of(OnnxModel model) {
    String where = model.path().toString();
    for (NodeProto node : model.proto().getGraph().getNodeList()) {
      if (INTEGER_OPERATORS.contains(node.getOpType())) {
        throw QuantizeCode.ALREADY.at(
            where + ", node \"" + node.getName() + "\"",
            "a model of floats",
            "the operator " + node.getOpType(),
            "quantize the float model that it was made from");
      }
    }
    int version = OperatorSetUpgrade.version(model);
    if (version < OperatorSetUpgrade.LEAST_VERSION) {
      throw QuantizeCode.OPERATOR_SET.at(
          where,
          "operator set "
              + OperatorSetUpgrade.LEAST_VERSION
              + " or newer, which can be upgraded to one with scales for each column",
          "operator set " + version,
          "export the model with opset_version=" + OperatorSetUpgrade.USUAL_VERSION);
    }
    QuantizableModel quantizable =
        new QuantizableModel(OperatorSetUpgrade.to(OperatorSetUpgrade.COLUMN_VERSION, model));
    if (quantizable.products.isEmpty()) {
      throw QuantizeCode.NO_PRODUCT.at(
          where,
          "a MatMul or Gemm with a trained f32 matrix in the main graph",
          "none",
          "export the model with its weights in f32, without functions or branches around its layers");
    }
    return quantizable;
  }

  public List<Product> products() {
    return products;
  }

  /**
   * Checks that a product has numbers that integers can stand for.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#WEIGHT} if not
   */
  public void requireFinite(Product product) {
    requireFinite(product, product.weight(), product.data());
    product
        .bias()
        .ifPresent(
            name ->
                constant(name)
                    .filter(bias -> bias.element().isFloat())
                    .ifPresent(bias -> requireFinite(product, name, bias)));
  }

  private static void requireFinite(Product product, String name, Tensor weight) {
    float[] numbers = weight.floats();
    for (int i = 0; i < numbers.length; i++) {
      if (!Float.isFinite(numbers[i])) {
        throw QuantizeCode.WEIGHT.at(
            "product \"" + product.name() + "\", weight \"" + name + "\", element " + i,
            "a finite number",
            numbers[i],
            "train or export the model again, or leave the product float with --float "
                + product.name());
      }
    }
  }

  /** Returns the attentions whose products are nodes of the main graph. */
  public List<AttentionSite> attentions() {
    return AttentionSites.of(this);
  }

  /** Returns the activation functions between products of the main graph. */
  public List<FunctionSite> functions() {
    return FunctionSites.of(this);
  }

  /** Returns the sums of the residual stream of the main graph. */
  public List<ResidualSite> residuals() {
    return ResidualSites.of(this);
  }

  /** Returns the results of a function for some numbers. */
  public float[] values(FunctionSite site, float[] numbers) {
    GraphProto given = proto().getGraph();
    GraphProto.Builder graph = GraphProto.newBuilder().setName(site.name());
    Set<String> needed = new HashSet<>();
    for (int index : site.nodes()) {
      needed.addAll(given.getNode(index).getInputList());
    }
    needed.stream()
        .filter(constants::containsKey)
        .sorted()
        .forEach(name -> graph.addInitializer(constants.get(name).toBuilder().setName(name)));
    site.nodes().forEach(index -> graph.addNode(given.getNode(index)));
    TensorType type = TensorType.of(ElementType.F32, numbers.length);
    graph
        .addInput(floats(site.input(), numbers.length))
        .addOutput(floats(site.output(), numbers.length));
    Module function =
        new OnnxImporter(ImportOptions.NONE).importModel(model.withGraph(graph.build()));
    return Evaluator.run(function.graph(), List.of(Tensor.of(type, numbers))).getFirst().floats();
  }

  private static ValueInfoProto floats(String name, int count) {
    ValueInfoProto.Builder value = ValueInfoProto.newBuilder().setName(name);
    value
        .getTypeBuilder()
        .getTensorTypeBuilder()
        .setElemType(TensorProto.DataType.FLOAT.getNumber())
        .getShapeBuilder()
        .addDimBuilder()
        .setDimValue(count);
    return value.build();
  }

  public OnnxModel model() {
    return model;
  }

  ModelProto proto() {
    return model.proto();
  }

  Optional<NodeProto> producer(String value) {
    return Optional.ofNullable(producers.get(value)).map(proto().getGraph()::getNode);
  }

  /** Returns the index of the node that computes a value. */
  OptionalInt producerIndex(String value) {
    Integer index = producers.get(value);
    return index == null ? OptionalInt.empty() : OptionalInt.of(index);
  }

  /** Returns the indices of the nodes that read a value, in order. */
  List<Integer> readers(String value) {
    return readers.getOrDefault(value, List.of());
  }

  /** Returns the result of a product, or its sum with a trained vector if that is its only use. */
  String withBias(Product product) {
    List<Integer> readers = readers(product.output());
    NodeProto first = readers.size() == 1 ? proto().getGraph().getNode(readers.getFirst()) : null;
    boolean isBiased =
        first != null
            && first.getOpType().equals("Add")
            && first.getInputList().stream().anyMatch(name -> isVector(name, product.columns()));
    return isBiased ? first.getOutput(0) : product.output();
  }

  /** Returns a constant by name. */
  Optional<Tensor> constant(String name) {
    return Optional.ofNullable(constants.get(name)).map(proto -> model.tensor(name, proto));
  }

  private Optional<Product> product(int index, NodeProto node) {
    boolean isGemm = node.getOpType().equals("Gemm");
    boolean isProduct = isGemm || node.getOpType().equals("MatMul");
    if (!isProduct || !node.getDomain().isEmpty() || isGemm && !isPlain(node)) {
      return Optional.empty();
    }
    boolean transposed =
        isGemm && attribute(node, "transB").map(value -> value.getI() != 0).orElse(false);
    String weight = node.getInput(1);
    while (!constants.containsKey(weight) && producers.containsKey(weight)) {
      NodeProto before = producer(weight).orElseThrow();
      boolean isTranspose = before.getOpType().equals("Transpose");
      if (!isTranspose && !before.getOpType().equals("Identity")) {
        return Optional.empty();
      }
      transposed ^= isTranspose;
      weight = before.getInput(0);
    }
    TensorProto data = constants.get(weight);
    boolean isMatrix =
        data != null
            && data.getDimsCount() == 2
            && data.getDataType() == TensorProto.DataType.FLOAT.getNumber()
            && !constants.containsKey(node.getInput(0));
    if (!isMatrix) {
      return Optional.empty();
    }
    Optional<String> bias =
        isGemm && node.getInputCount() > 2 && !node.getInput(2).isEmpty()
            ? Optional.of(node.getInput(2))
            : Optional.empty();
    return Optional.of(
        new Product(
            index,
            node.getName().isEmpty() ? node.getOutput(0) : node.getName(),
            node.getOpType(),
            node.getInput(0),
            node.getOutput(0),
            weight,
            model.tensor(weight, data),
            transposed,
            bias));
  }

  /** Whether a Gemm is a product, possibly with a bias. */
  private static boolean isPlain(NodeProto node) {
    boolean isScaled =
        attribute(node, "alpha").map(value -> value.getF() != 1).orElse(false)
            || attribute(node, "beta").map(value -> value.getF() != 1).orElse(false);
    return !isScaled && attribute(node, "transA").map(value -> value.getI() == 0).orElse(true);
  }

  /** Whether a constant is a vector of floats. */
  boolean isVector(String name, int extent) {
    TensorProto tensor = constants.get(name);
    return tensor != null
        && tensor.getDataType() == TensorProto.DataType.FLOAT.getNumber()
        && model.tensor(name, tensor).type().element() == ElementType.F32
        && tensor.getDimsCount() == 1
        && tensor.getDims(0) == extent;
  }

  static Optional<AttributeProto> attribute(NodeProto node, String name) {
    return node.getAttributeList().stream()
        .filter(attribute -> attribute.getName().equals(name))
        .findFirst();
  }
}
