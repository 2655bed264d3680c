package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.NodeProto;

/** Deviations of ONNX Runtime from the standard. */
public enum RuntimeDeviation {
  /** Products of block-quantised weights with an attribute that permits rounding activations. */
  ROUNDED_ACTIVATIONS(
      "rounding activations to 8 bits, which accuracy_level 4 allows and the recorded run did,"),
  /**
   * Averages that count padding, if the last window extends beyond it: releases before 1.31 divide
   * by the whole kernel up to opset 18, the standard and PyTorch by the part in the padded operand
   * (microsoft/onnxruntime issue 16203, pull request 29629).
   */
  WHOLE_KERNEL_AVERAGES(
      "dividing averages over windows that reach past the padding by the whole kernel, which ONNX"
          + " Runtime before 1.31 and the recorded run did against the standard,");

  private final String text;

  RuntimeDeviation(String text) {
    this.text = text;
  }

  /** Returns the beginning of a sentence about its effect. */
  public String text() {
    return text;
  }

  /** Whether it applies to a node. */
  boolean concerns(NodeProto node) {
    return switch (this) {
      case ROUNDED_ACTIVATIONS ->
          node.getOpType().equals("MatMulNBits") && integer(node, "accuracy_level") == 4;
      case WHOLE_KERNEL_AVERAGES ->
          node.getOpType().equals("AveragePool")
              && integer(node, "ceil_mode") == 1
              && integer(node, "count_include_pad") == 1;
    };
  }

  private static long integer(NodeProto node, String name) {
    return node.getAttributeList().stream()
        .filter(attribute -> attribute.getName().equals(name))
        .mapToLong(attribute -> attribute.getI())
        .findFirst()
        .orElse(0);
  }
}
