package io.partita.frontend.onnx.operator;

/** The operators of com.microsoft, which exporters and ONNX Runtime's tools write. */
final class MicrosoftOperators {
  private MicrosoftOperators() {}

  static void register(OperatorRegistry registry) {
    MicrosoftActivations.register(registry);
    MicrosoftAttention.register(registry);
    MicrosoftMultiHeadAttention.register(registry);
    MicrosoftGroupQueryAttention.register(registry);
    MicrosoftRotaryEmbedding.register(registry);
    MicrosoftNormalization.register(registry);
    MicrosoftProducts.register(registry);
    MicrosoftBlockQuantized.register(registry);
    MicrosoftExperts.register(registry);
    MicrosoftQuantized.register(registry);
    MicrosoftBlockedChannels.register(registry);
  }
}
