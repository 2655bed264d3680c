package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import java.util.List;

/**
 * Operators of com.microsoft.nchwc, which ONNX Runtime writes when it saves a model with its layout
 * optimisations. Their weights lie in blocks of 8 or 16 channels, whichever the instruction set of
 * the computer that optimised the model has, and the file doesn't say which: only that computer
 * knows what the numbers mean.
 */
final class MicrosoftBlockedChannels {
  private static final String DOMAIN = "com.microsoft.nchwc";

  private MicrosoftBlockedChannels() {}

  static void register(OperatorRegistry registry) {
    for (String operator :
        List.of(
            "ReorderInput",
            "ReorderOutput",
            "Conv",
            "MaxPool",
            "AveragePool",
            "GlobalMaxPool",
            "GlobalAveragePool",
            "Upsample")) {
      registry.add(DOMAIN, operator, 1, MicrosoftBlockedChannels::refuse);
    }
  }

  private static void refuse(NodeScope node) {
    throw node.unsupported(
        "a layout in blocks of channels for one kind of processor, which the file doesn't name",
        "optimise with ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL, or give the model as it was"
            + " before it was optimised");
  }
}
