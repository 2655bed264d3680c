package io.partita.zoo;

/** A family of transformers with its dimensions. Emits the same graph as a PyTorch exporter. */
sealed interface Architecture permits Llama, Gpt2, Bert, VisionTransformer, FeatureEncoder {
  int layers();

  Architecture withLayers(int count);

  /** Whether there is a {@link Mode#DECODE}. */
  boolean decodes();

  /** The largest number of tokens; 0 if the number isn't configurable. */
  int context();

  /** Appends the whole model to an empty graph. */
  void write(OnnxGraph graph, Sequence sequence);
}
