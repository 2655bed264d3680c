package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes a model with its products quantized: the integers of a matrix are dequantized before the
 * product, and its input is quantized and dequantized. So are the operands of attentions, whose
 * caches become integers, the arguments of activation functions, and sums of the residual stream.
 * All other nodes, and the names of inputs and outputs, stay as they are.
 */
public final class QuantizedGraph {
  /** The first version whose {@code DequantizeLinear} takes blocks and integers of 4 bits. */
  private static final int BLOCK_VERSION = 21;

  /** The first version of the file format with integers of 4 bits. */
  private static final int NIBBLE_FORMAT = 10;

  /**
   * The quantization of a product.
   *
   * @param input the code of its input; empty if the input stays float
   */
  public record Choice(QuantizedMatrix matrix, Optional<Affine> input) {}

  /**
   * The quantization of an attention, whose probabilities have 8 bits too.
   *
   * @param codes those of its measured operands, without zero points
   */
  public record AttentionChoice(AttentionSite site, List<Affine> codes) {
    /** The codes of its caches, by the names of their inputs. */
    public Map<String, Affine> caches() {
      Map<String, Affine> caches = new LinkedHashMap<>();
      for (int i = 0; i < codes.size(); i++) {
        Affine code = codes.get(i);
        site.measured().get(i).cache().ifPresent(cache -> caches.putIfAbsent(cache.past(), code));
      }
      return caches;
    }
  }

  /**
   * The quantization of a value for some of its readers.
   *
   * @param readers the indices of these nodes
   */
  public record ValueChoice(String value, List<Integer> readers, Affine code) {
    public ValueChoice {
      readers = List.copyOf(readers);
    }

    /** Quantizes the argument of an activation function. */
    public static ValueChoice of(FunctionSite site, Affine code) {
      return new ValueChoice(site.input(), site.nodes(), code);
    }

    /** Quantizes a sum of the residual stream. */
    public static ValueChoice of(ResidualSite site, Affine code) {
      return new ValueChoice(site.output(), site.readers(), code);
    }
  }

  private final QuantizableModel model;
  private final Map<Product, Choice> choices;
  private final List<AttentionChoice> attentions;
  private final List<ValueChoice> values;
  private final Map<String, double[]> factors;
  private final Map<Integer, NodeProto> replaced = new HashMap<>();
  private final Map<Integer, List<NodeProto>> before = new HashMap<>();
  private final Map<String, TensorProto> added = new LinkedHashMap<>();
  private final Map<String, String> codedInputs = new HashMap<>();
  private final Map<String, String> matrices = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private final Set<AttentionSite.Cache> caches = new HashSet<>();

  private QuantizedGraph(
      QuantizableModel model,
      Map<Product, Choice> choices,
      Map<String, double[]> factors,
      List<AttentionChoice> attentions,
      List<ValueChoice> values) {
    this.model = model;
    this.choices = choices;
    this.attentions = attentions;
    this.values = values;
    this.factors = factors;
    GraphProto graph = model.proto().getGraph();
    graph.getInitializerList().forEach(tensor -> names.add(tensor.getName()));
    graph.getInputList().forEach(input -> names.add(input.getName()));
    graph.getNodeList().forEach(node -> names.addAll(node.getOutputList()));
  }

  /**
   * @param choices the quantization of products; others stay float
   * @param factors by the name of a value, the factors by which each of its features is divided and
   *     the rows of the matrices that it is multiplied with were multiplied
   * @param attentions the quantization of attentions; others stay float
   * @param values the quantization of other values; all others stay float
   */
  public static ModelProto of(
      QuantizableModel model,
      Map<Product, Choice> choices,
      Map<String, double[]> factors,
      List<AttentionChoice> attentions,
      List<ValueChoice> values) {
    return new QuantizedGraph(model, choices, factors, attentions, values).write();
  }

  private ModelProto write() {
    divideNorms();
    for (Product product : model.products()) {
      if (choices.containsKey(product)) {
        quantize(product, choices.get(product));
      }
    }
    attentions.forEach(this::quantize);
    values.forEach(this::quantize);
    boolean hasNibbles = choices.values().stream().anyMatch(choice -> choice.matrix().bits() < 8);
    ModelProto given = model.proto();
    GraphProto.Builder graph = given.getGraph().toBuilder().clearNode().clearInitializer();
    for (int i = 0; i < given.getGraph().getNodeCount(); i++) {
      before.getOrDefault(i, List.of()).forEach(graph::addNode);
      graph.addNode(replaced.getOrDefault(i, given.getGraph().getNode(i)));
    }
    before.getOrDefault(given.getGraph().getNodeCount(), List.of()).forEach(graph::addNode);
    given.getGraph().getInitializerList().forEach(graph::addInitializer);
    added.values().forEach(graph::addInitializer);
    turnCaches(graph);
    ModelProto.Builder written = given.toBuilder().setGraph(UnusedConstants.removed(graph));
    if (hasNibbles) {
      OperatorSetUpgrade.to(BLOCK_VERSION, written, model.model());
      written.setIrVersion(Math.max(written.getIrVersion(), NIBBLE_FORMAT));
    }
    return written.build();
  }

  private void divideNorms() {
    NormScales norms = new NormScales(model, List.copyOf(choices.keySet()));
    factors.forEach(
        (value, divisors) -> {
          for (NormScales.Place place : norms.places(value)) {
            float[] data = model.constant(place.constant()).orElseThrow().floats();
            for (int i = 0; i < data.length; i++) {
              data[i] = (float) (data[i] / divisors[i]);
            }
            String name = fresh(place.constant() + "_smoothed");
            added.put(name, floats(name, data, data.length));
            int index = model.producerIndex(place.node().getOutput(0)).orElseThrow();
            NodeProto.Builder node = replaced.getOrDefault(index, place.node()).toBuilder();
            replaced.put(index, node.setInput(place.operand(), name).build());
          }
        });
  }

  private void quantize(Product product, Choice choice) {
    List<NodeProto> more = new ArrayList<>();
    NodeProto given = model.proto().getGraph().getNode(product.index());
    NodeProto.Builder node = given.toBuilder();
    node.setInput(1, matrix(product, choice.matrix(), more));
    boolean isGemm = product.operator().equals("Gemm");
    if (isGemm) {
      for (int i = node.getAttributeCount() - 1; i >= 0; i--) {
        if (node.getAttribute(i).getName().equals("transB")) {
          node.removeAttribute(i);
        }
      }
    }
    choice
        .input()
        .ifPresent(
            code -> {
              String coded = codedInputs.get(product.input());
              if (coded == null) {
                coded = coded(product.input(), code, more);
                codedInputs.put(product.input(), coded);
              }
              node.setInput(0, coded);
              if (product.bias().filter(bias -> model.isVector(bias, product.columns())).isPresent()
                  && choice.matrix().bits() == 8) {
                bias(product, code, choice.matrix(), more)
                    .ifPresent(bias -> node.setInput(2, bias));
              }
            });
    before(product.index()).addAll(more);
    replaced.put(product.index(), node.build());
  }

  private void quantize(AttentionChoice choice) {
    AttentionSite site = choice.site();
    for (int i = 0; i < choice.codes().size(); i++) {
      AttentionSite.Use use = site.measured().get(i);
      Affine code = choice.codes().get(i);
      if (use.cache().isEmpty()) {
        read(use, code);
      } else if (caches.add(use.cache().get())) {
        append(use, use.cache().get().present(), code);
      }
    }
    read(site.probabilities(), Affine.PROBABILITIES);
  }

  private void quantize(ValueChoice choice) {
    for (int node : choice.readers()) {
      for (int operand = 0; operand < current(node).getInputCount(); operand++) {
        if (current(node).getInput(operand).equals(choice.value())) {
          read(
              new AttentionSite.Use(choice.value(), node, operand, Optional.empty()),
              choice.code());
        }
      }
    }
  }

  /** Makes an operand the dequantized integers of a value. */
  private void read(AttentionSite.Use use, Affine code) {
    String coded = codedInputs.get(use.value() + code);
    if (coded == null) {
      coded = coded(use.value(), code, before(after(use.value())));
      codedInputs.put(use.value() + code, coded);
    }
    replaced.put(use.node(), current(use.node()).setInput(use.operand(), coded).build());
  }

  /** Returns the index of the node after the one that computes a value; 0 for an input. */
  private int after(String value) {
    return model.producerIndex(value).orElse(-1) + 1;
  }

  private List<NodeProto> before(int index) {
    return before.computeIfAbsent(index, place -> new ArrayList<>());
  }

  private NodeProto.Builder current(int index) {
    NodeProto given = model.proto().getGraph().getNode(index);
    return replaced.getOrDefault(index, given).toBuilder();
  }

  /** Makes a cache one of integers, which its readers dequantize. */
  private void append(AttentionSite.Use use, String present, Affine code) {
    String scale = fresh(present + "_scale");
    String zeroPoint = fresh(present + "_zero_point");
    add(code, scale, zeroPoint);
    String integers = fresh(use.value() + "_QuantizeLinear_Output");
    before(use.node())
        .add(
            node(
                    "QuantizeLinear",
                    use.value() + "_QuantizeLinear",
                    integers,
                    use.value(),
                    scale,
                    zeroPoint)
                .build());
    replaced.put(use.node(), current(use.node()).setInput(use.operand(), integers).build());
    String reals = fresh(present + "_DequantizeLinear_Output");
    before(use.node() + 1)
        .add(
            node(
                    "DequantizeLinear",
                    present + "_DequantizeLinear",
                    reals,
                    present,
                    scale,
                    zeroPoint)
                .build());
    for (int i = use.node() + 1; i < model.proto().getGraph().getNodeCount(); i++) {
      NodeProto.Builder reader = current(i);
      for (int operand = 0; operand < reader.getInputCount(); operand++) {
        if (reader.getInput(operand).equals(present) && !reader.getOpType().equals("Shape")) {
          replaced.put(i, reader.setInput(operand, reals).build());
        }
      }
    }
  }

  /** Makes inputs and outputs of caches integers. */
  private void turnCaches(GraphProto.Builder graph) {
    Set<String> turned = new HashSet<>();
    caches.forEach(
        cache -> {
          turned.add(cache.past());
          turned.add(cache.present());
        });
    for (int i = 0; i < graph.getInputCount(); i++) {
      if (turned.contains(graph.getInput(i).getName())) {
        turn(graph.getInputBuilder(i));
      }
    }
    for (int i = 0; i < graph.getOutputCount(); i++) {
      if (turned.contains(graph.getOutput(i).getName())) {
        turn(graph.getOutputBuilder(i));
      }
    }
  }

  private static void turn(ValueInfoProto.Builder value) {
    value
        .getTypeBuilder()
        .getTensorTypeBuilder()
        .setElemType(TensorProto.DataType.INT8.getNumber());
  }

  private String coded(String value, Affine code, List<NodeProto> more) {
    String scale = fresh(value + "_scale");
    String zeroPoint = fresh(value + "_zero_point");
    add(code, scale, zeroPoint);
    String integers = fresh(value + "_QuantizeLinear_Output");
    String reals = fresh(value + "_DequantizeLinear_Output");
    more.add(
        node("QuantizeLinear", value + "_QuantizeLinear", integers, value, scale, zeroPoint)
            .build());
    more.add(
        node("DequantizeLinear", value + "_DequantizeLinear", reals, integers, scale, zeroPoint)
            .build());
    return reals;
  }

  private void add(Affine code, String scale, String zeroPoint) {
    added.put(scale, scalar(floats(scale, new float[] {code.scale()})));
    added.put(
        zeroPoint,
        scalar(bytes(zeroPoint, TensorProto.DataType.INT8, new byte[] {(byte) code.zeroPoint()})));
  }

  private String matrix(Product product, QuantizedMatrix matrix, List<NodeProto> more) {
    String key = product.weight() + " " + product.transposed() + " " + matrix.bits();
    boolean isShared = !factors.containsKey(product.input());
    if (isShared && matrices.containsKey(key)) {
      return matrices.get(key);
    }
    String integers = fresh(product.weight() + "_quantized");
    String scale = fresh(product.weight() + "_scale");
    String reals = fresh(product.weight() + "_DequantizeLinear_Output");
    int groups = matrix.rows() / matrix.group();
    boolean isBytes = matrix.bits() == 8;
    // 22 is INT4, which older bindings don't name.
    int type = isBytes ? TensorProto.DataType.INT8.getNumber() : 22;
    added.put(integers, raw(integers, type, matrix.packed(), matrix.rows(), matrix.columns()));
    NodeProto.Builder node =
        node("DequantizeLinear", product.weight() + "_DequantizeLinear", reals, integers, scale);
    if (isBytes) {
      String zeroPoint = fresh(product.weight() + "_zero_point");
      added.put(scale, floats(scale, matrix.scales(), matrix.columns()));
      added.put(zeroPoint, raw(zeroPoint, type, new byte[matrix.columns()], matrix.columns()));
      node.addInput(zeroPoint).addAttribute(integer("axis", 1));
    } else {
      added.put(scale, floats(scale, matrix.scales(), groups, matrix.columns()));
      node.addAttribute(integer("axis", 0)).addAttribute(integer("block_size", matrix.group()));
    }
    more.add(node.build());
    if (isShared) {
      matrices.put(key, reals);
    }
    return reals;
  }

  /** The bias in the unit of the sums of integers; empty if 32 bits are too few for it. */
  private Optional<String> bias(
      Product product, Affine code, QuantizedMatrix matrix, List<NodeProto> more) {
    String given = product.bias().orElseThrow();
    float[] data = model.constant(given).orElseThrow().floats();
    float[] scales = new float[data.length];
    ByteBuffer sums = ByteBuffer.allocate(4 * data.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < data.length; i++) {
      scales[i] = code.scale() * matrix.scales()[i];
      double sum = Math.rint((double) data[i] / scales[i]);
      if (!(Math.abs(sum) <= Integer.MAX_VALUE)) {
        return Optional.empty();
      }
      sums.putInt((int) sum);
    }
    String integers = fresh(given + "_quantized");
    String scale = fresh(given + "_scale");
    String reals = fresh(given + "_DequantizeLinear_Output");
    added.put(
        integers, raw(integers, TensorProto.DataType.INT32.getNumber(), sums.array(), data.length));
    added.put(scale, floats(scale, scales, data.length));
    more.add(
        node("DequantizeLinear", given + "_DequantizeLinear", reals, integers, scale)
            .addAttribute(integer("axis", 0))
            .build());
    return Optional.of(reals);
  }

  private String fresh(String wanted) {
    String name = wanted;
    for (int i = 1; !names.add(name); i++) {
      name = wanted + "_" + i;
    }
    return name;
  }

  private static NodeProto.Builder node(
      String operator, String name, String output, String... inputs) {
    return NodeProto.newBuilder()
        .setOpType(operator)
        .setName(name)
        .addAllInput(List.of(inputs))
        .addOutput(output);
  }

  static AttributeProto integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value)
        .build();
  }

  private static TensorProto scalar(TensorProto vector) {
    return vector.toBuilder().clearDims().build();
  }

  private static TensorProto floats(String name, float[] values, long... shape) {
    ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    data.asFloatBuffer().put(values);
    return raw(name, TensorProto.DataType.FLOAT.getNumber(), data.array(), shape);
  }

  private static TensorProto bytes(String name, TensorProto.DataType type, byte[] values) {
    return raw(name, type.getNumber(), values, values.length);
  }

  private static TensorProto raw(String name, int type, byte[] values, long... shape) {
    TensorProto.Builder tensor = TensorProto.newBuilder().setName(name).setDataType(type);
    for (long extent : shape) {
      tensor.addDims(extent);
    }
    return tensor.setRawData(ByteString.copyFrom(values)).build();
  }
}
