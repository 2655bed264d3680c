package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.frontend.onnx.operator.PulpOperators;
import io.partita.ir.tensor.Tensor;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Translates the dialect of quantlib and Deeploy to ONNX: single integers in float tensors, floats
 * as integers, a softmax over the last axis by default, and a loss with log-probabilities as its
 * only output.
 */
final class PulpDialect {
  /** The domain that quantlib's exporter imports, even if its operators have no domain. */
  private static final String DOMAIN = "PACTOps";

  private final ModelProto model;
  private final TensorReader tensors;
  private final boolean quantlib;
  private final Map<String, Integer> outputRanks = new TreeMap<>();

  private PulpDialect(ModelProto model, TensorReader tensors) {
    this.model = model;
    this.tensors = tensors;
    this.quantlib =
        model.getOpsetImportList().stream().anyMatch(set -> set.getDomain().equals(DOMAIN));
    for (ValueInfoProto output : model.getGraph().getOutputList()) {
      outputRanks.put(output.getName(), output.getType().getTensorType().getShape().getDimCount());
    }
  }

  /** Returns the model in standard ONNX; the same model if nothing changes. */
  static ModelProto standard(ModelProto model, TensorReader tensors) {
    return new PulpDialect(model, tensors).standard();
  }

  private ModelProto standard() {
    GraphProto.Builder graph = null;
    for (int i = 0; i < model.getGraph().getNodeCount(); i++) {
      NodeProto node = model.getGraph().getNode(i);
      NodeProto changed = standard(node);
      if (changed != node) {
        graph = graph == null ? model.getGraph().toBuilder() : graph;
        graph.setNode(i, changed);
      }
    }
    return graph == null ? model : model.toBuilder().setGraph(graph).build();
  }

  private NodeProto standard(NodeProto node) {
    if (PulpOperators.isInteger(node.getOpType())) {
      return withIntegers(node);
    }
    return switch (node.getOpType()) {
      case "Softmax" -> quantlib ? overLastAxis(node) : node;
      case "Pad" -> withFloat(node, "value");
      case "SoftmaxCrossEntropyLoss" -> withSecondOutput(node);
      case String other -> node;
    };
  }

  private NodeProto withIntegers(NodeProto node) {
    NodeProto.Builder changed = node.toBuilder();
    for (int i = 0; i < changed.getAttributeCount(); i++) {
      AttributeProto attribute = changed.getAttribute(i);
      String name = attribute.getName();
      Optional<Long> integer =
          name.equals("axes") ? Optional.empty() : onlyInteger(node, attribute);
      if (integer.isPresent()) {
        changed.setAttribute(i, integer(name, integer.get()));
      } else if (name.equals("axes") && attribute.hasI()) {
        AttributeProto.Builder list = AttributeProto.newBuilder().setName(name);
        list.setType(AttributeProto.AttributeType.INTS).addInts(attribute.getI());
        changed.setAttribute(i, list);
      }
    }
    return changed.build();
  }

  private static AttributeProto integer(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(value)
        .build();
  }

  /** Returns the single integral value of an attribute of any kind. */
  private Optional<Long> onlyInteger(NodeProto node, AttributeProto attribute) {
    double value;
    if (attribute.hasT()) {
      Tensor data = tensors.read("node \"" + node.getName() + "\"", attribute.getT());
      value = data.size() == 1 ? data.getDouble(0) : Double.NaN;
    } else if (attribute.hasF()) {
      value = attribute.getF();
    } else if (attribute.getFloatsCount() == 1) {
      value = attribute.getFloats(0);
    } else if (attribute.getIntsCount() == 1) {
      return Optional.of(attribute.getInts(0));
    } else {
      return Optional.empty();
    }
    return value == Math.rint(value) && Math.abs(value) < 0x1p53
        ? Optional.of((long) value)
        : Optional.empty();
  }

  /** Returns an attribute that is a float in ONNX and an integer in this dialect. */
  private static NodeProto withFloat(NodeProto node, String name) {
    for (int i = 0; i < node.getAttributeCount(); i++) {
      AttributeProto attribute = node.getAttribute(i);
      if (attribute.getName().equals(name) && attribute.hasI()) {
        AttributeProto.Builder number =
            AttributeProto.newBuilder()
                .setName(name)
                .setType(AttributeProto.AttributeType.FLOAT)
                .setF(attribute.getI());
        return node.toBuilder().setAttribute(i, number).build();
      }
    }
    return node;
  }

  private static NodeProto overLastAxis(NodeProto node) {
    boolean says =
        node.getAttributeList().stream().anyMatch(attribute -> attribute.getName().equals("axis"));
    return says ? node : node.toBuilder().addAttribute(integer("axis", -1)).build();
  }

  /**
   * Moves a declared matrix to the second output, because the loss itself is a scalar if reduced.
   */
  private NodeProto withSecondOutput(NodeProto node) {
    boolean reduced =
        node.getAttributeList().stream()
            .noneMatch(
                attribute ->
                    attribute.getName().equals("reduction")
                        && attribute.getS().toStringUtf8().equals("none"));
    if (node.getOutputCount() != 1 || !reduced) {
      return node;
    }
    String output = node.getOutput(0);
    return outputRanks.getOrDefault(output, 0) < 2
        ? node
        : node.toBuilder().setOutput(0, "").addOutput(output).build();
  }
}
