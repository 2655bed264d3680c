package io.partita.zoo;

/** A family of transformers with its dimensions. Writes itself as a PyTorch exporter would. */
sealed interface Architecture permits Llama, Gpt2, Bert, VisionTransformer {
  int layers();

  Architecture withLayers(int count);

  /** Whether there is a {@link Mode#DECODE}. */
  boolean decodes();

  /** Tokens that fit; 0 when the number of tokens isn't a choice. */
  int context();

  /** Appends the whole model to an empty graph. */
  void write(OnnxGraph graph, Sequence sequence);
}
