package io.partita.zoo;

/** A pre-norm encoder from features to features, without embedding and head. */
record FeatureEncoder(int context, int size, int intermediate, int layers, Attention attention)
    implements Architecture {
  private static final float EPSILON = 1e-12f;

  @Override
  public FeatureEncoder withLayers(int count) {
    return new FeatureEncoder(context, size, intermediate, count, attention);
  }

  @Override
  public boolean decodes() {
    return false;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    String x = graph.input("features", OnnxGraph.FLOAT, Dim.of(1), sequence.tokens(), Dim.of(size));
    EncoderLayers encoder = new EncoderLayers(size, intermediate, layers, attention, EPSILON);
    x = encoder.write(graph.root().in("encoder"), x, sequence.tokensOrInferred());
    x = graph.root().in("layernorm").layerNorm(x, size, EPSILON);
    graph.output("last_hidden_state", x, Dim.of(1), sequence.tokens(), Dim.of(size));
  }
}
