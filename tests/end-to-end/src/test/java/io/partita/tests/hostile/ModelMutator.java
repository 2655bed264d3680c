package io.partita.tests.hostile;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Mutates models to valid messages that are mostly invalid models. */
final class ModelMutator {
  private static final long[] NUMBERS = {
    0,
    1,
    -1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    64,
    255,
    4096,
    1 << 20,
    1 << 24,
    Integer.MAX_VALUE,
    1L << 31,
    1L << 32,
    1L << 40,
    1L << 62,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -2,
    -3,
    -1L << 31
  };

  private static final float[] FLOATS = {
    0,
    -0f,
    1,
    -1,
    Float.NaN,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.MIN_VALUE,
    Float.MAX_VALUE,
    1e-6f,
    0.5f,
    3e9f
  };

  private static final String[] TEXTS = {"", "NOTSET", "SAME_UPPER", "linear", "…", "ij,jk->ik"};

  private final RandomGenerator random;
  private final List<String> operators;

  /**
   * @param operators the operators for replacements
   */
  ModelMutator(RandomGenerator random, List<String> operators) {
    this.random = random;
    this.operators = operators;
  }

  ModelProto mutate(ModelProto model) {
    ModelProto.Builder builder = model.toBuilder();
    for (int left = 1 + random.nextInt(4); left > 0; left--) {
      once(builder);
    }
    return builder.build();
  }

  private void once(ModelProto.Builder model) {
    GraphProto.Builder graph = model.getGraphBuilder();
    switch (random.nextInt(20)) {
      case 0 -> header(model);
      case 1, 2, 3 -> mutateInitializer(graph);
      case 4, 5 -> mutateInput(graph);
      case 6 -> order(graph);
      case 7 -> mutateOutput(graph);
      default -> mutateNode(graph);
    }
  }

  private void header(ModelProto.Builder model) {
    if (random.nextBoolean() && model.getOpsetImportCount() > 0) {
      int version = random.nextBoolean() ? 1 + random.nextInt(26) : (int) number();
      model.getOpsetImportBuilder(random.nextInt(model.getOpsetImportCount())).setVersion(version);
    } else if (random.nextBoolean()) {
      model.setIrVersion(number());
    } else {
      model.clearOpsetImport();
    }
  }

  private long number() {
    return random.nextInt(3) == 0
        ? random.nextLong(-10, 200)
        : NUMBERS[random.nextInt(NUMBERS.length)];
  }

  private float real() {
    return FLOATS[random.nextInt(FLOATS.length)];
  }

  private void mutateInitializer(GraphProto.Builder graph) {
    if (graph.getInitializerCount() == 0) {
      return;
    }
    int at = random.nextInt(graph.getInitializerCount());
    switch (random.nextInt(8)) {
      case 0 -> graph.removeInitializer(at);
      case 1 -> graph.addInitializer(graph.getInitializer(at));
      default -> mutate(graph.getInitializerBuilder(at));
    }
  }

  /** Mostly keeps data and shape consistent, because inconsistent ones fail in the reader. */
  private void mutate(TensorProto.Builder tensor) {
    switch (random.nextInt(7)) {
      case 0 -> tensor.setDataType(random.nextInt(27));
      case 1 -> {
        if (tensor.getDimsCount() > 0) {
          tensor.setDims(random.nextInt(tensor.getDimsCount()), number());
        }
      }
      case 2 -> {
        List<Long> dims = new ArrayList<>(tensor.getDimsList());
        dims.add(random.nextInt(dims.size() + 1), 1L);
        tensor.clearDims().addAllDims(dims);
      }
      case 3 -> {
        ByteString raw = tensor.getRawData();
        tensor.setRawData(raw.substring(0, random.nextInt(raw.size() + 1)));
      }
      case 4 ->
          tensor
              .setDataLocation(TensorProto.DataLocation.EXTERNAL)
              .addExternalDataBuilder()
              .setKey("location")
              .setValue("../outside");
      default -> replace(tensor);
    }
  }

  /** Returns other data of 1 to 4 elements. */
  private void replace(TensorProto.Builder tensor) {
    int elements = random.nextInt(5);
    int type = tensor.getDataType();
    tensor.clear().setDataType(type);
    if (elements != 1 || random.nextBoolean()) {
      tensor.addDims(elements);
    }
    for (int i = 0; i < elements; i++) {
      switch (type) {
        case 1 -> tensor.addFloatData(real());
        case 11 -> tensor.addDoubleData(real());
        case 12, 13 -> tensor.addUint64Data(number());
        case 7 -> tensor.addInt64Data(number());
        default -> tensor.addInt32Data((int) number());
      }
    }
  }

  private void mutateInput(GraphProto.Builder graph) {
    if (graph.getInputCount() == 0) {
      return;
    }
    int at = random.nextInt(graph.getInputCount());
    ValueInfoProto.Builder input = graph.getInputBuilder(at);
    TypeProto.Tensor.Builder type = input.getTypeBuilder().getTensorTypeBuilder();
    TensorShapeProto.Builder shape = type.getShapeBuilder();
    switch (random.nextInt(9)) {
      case 0 -> graph.removeInput(at);
      case 1 -> graph.addInput(graph.getInput(at));
      case 2 -> type.setElemType(random.nextInt(27));
      case 3 -> type.clearShape();
      case 4 -> shape.addDimBuilder().setDimValue(number());
      case 5 -> shape.addDimBuilder(0).setDimValue(1);
      case 6 -> shape.addDimBuilder().setDimParam("a*b+" + number());
      default -> {
        if (shape.getDimCount() > 0) {
          var dim = shape.getDimBuilder(random.nextInt(shape.getDimCount()));
          if (random.nextInt(3) == 0) {
            dim.setDimParam("n");
          } else {
            dim.setDimValue(number());
          }
        }
      }
    }
  }

  private void mutateOutput(GraphProto.Builder graph) {
    if (graph.getOutputCount() == 0) {
      return;
    }
    int at = random.nextInt(graph.getOutputCount());
    switch (random.nextInt(3)) {
      case 0 -> graph.removeOutput(at);
      case 1 -> graph.addOutput(graph.getOutput(at));
      default -> graph.getOutputBuilder(at).setName(anyName(graph));
    }
  }

  private void order(GraphProto.Builder graph) {
    if (graph.getNodeCount() == 0) {
      return;
    }
    int at = random.nextInt(graph.getNodeCount());
    NodeProto node = graph.getNode(at);
    switch (random.nextInt(3)) {
      case 0 -> graph.removeNode(at);
      case 1 -> graph.addNode(random.nextInt(graph.getNodeCount()), node);
      default -> {
        int other = random.nextInt(graph.getNodeCount());
        graph.setNode(at, graph.getNode(other)).setNode(other, node);
      }
    }
  }

  private String anyName(GraphProto.Builder graph) {
    int nodes = graph.getNodeCount();
    if (nodes > 0 && random.nextInt(3) > 0) {
      NodeProto node = graph.getNode(random.nextInt(nodes));
      if (node.getOutputCount() > 0) {
        return node.getOutput(random.nextInt(node.getOutputCount()));
      }
    }
    if (graph.getInitializerCount() > 0 && random.nextBoolean()) {
      return graph.getInitializer(random.nextInt(graph.getInitializerCount())).getName();
    }
    return graph.getInputCount() == 0
        ? "nothing"
        : graph.getInput(random.nextInt(graph.getInputCount())).getName();
  }

  private void mutateNode(GraphProto.Builder graph) {
    if (graph.getNodeCount() == 0) {
      return;
    }
    NodeProto.Builder node = graph.getNodeBuilder(random.nextInt(graph.getNodeCount()));
    switch (random.nextInt(12)) {
      case 0 -> node.setOpType(operators.get(random.nextInt(operators.size())));
      case 1 -> node.addInput(anyName(graph));
      case 2 -> node.addOutput(random.nextBoolean() ? "" : "extra" + node.getOutputCount());
      case 3 -> {
        if (node.getInputCount() > 0) {
          List<String> inputs = new ArrayList<>(node.getInputList());
          inputs.remove(random.nextInt(inputs.size()));
          node.clearInput().addAllInput(inputs);
        }
      }
      case 4, 5 -> {
        if (node.getInputCount() > 0) {
          String name = random.nextInt(8) == 0 ? "" : anyName(graph);
          node.setInput(random.nextInt(node.getInputCount()), name);
        }
      }
      default -> mutateAttributes(node);
    }
  }

  private void mutateAttributes(NodeProto.Builder node) {
    if (node.getAttributeCount() == 0) {
      node.addAttribute(attribute(new String[] {"axis", "axes", "perm"}[random.nextInt(3)]));
      return;
    }
    int at = random.nextInt(node.getAttributeCount());
    AttributeProto.Builder attribute = node.getAttributeBuilder(at);
    switch (random.nextInt(6)) {
      case 0 -> node.removeAttribute(at);
      case 1 -> node.setAttribute(at, attribute(attribute.getName()));
      default -> mutate(attribute);
    }
  }

  /** Returns an attribute of any kind. */
  private AttributeProto attribute(String name) {
    AttributeProto.Builder attribute = AttributeProto.newBuilder().setName(name);
    switch (random.nextInt(4)) {
      case 0 -> attribute.setType(AttributeProto.AttributeType.INT).setI(number());
      case 1 -> attribute.setType(AttributeProto.AttributeType.FLOAT).setF(real());
      case 2 -> attribute.setType(AttributeProto.AttributeType.STRING).setS(text());
      default ->
          attribute.setType(AttributeProto.AttributeType.INTS).addInts(number()).addInts(number());
    }
    return attribute.build();
  }

  private ByteString text() {
    return ByteString.copyFromUtf8(TEXTS[random.nextInt(TEXTS.length)]);
  }

  private void mutate(AttributeProto.Builder attribute) {
    if (attribute.hasG() && attribute.getG().getNodeCount() > 0) {
      mutateNode(attribute.getGBuilder());
    } else if (attribute.hasT()) {
      mutate(attribute.getTBuilder());
    } else if (attribute.getIntsCount() > 0) {
      switch (random.nextInt(3)) {
        case 0 -> attribute.addInts(number());
        default -> attribute.setInts(random.nextInt(attribute.getIntsCount()), number());
      }
    } else if (attribute.hasI()) {
      attribute.setI(number());
    } else if (attribute.hasF()) {
      attribute.setF(real());
    } else {
      attribute.setS(text());
    }
  }
}
