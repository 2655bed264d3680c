package io.partita.zoo;

/**
 * A post-norm encoder with learned positions: {@code BertModel} without its pooler.
 *
 * @param vocabulary the number of tokens; 0 for blocks alone, from features to features
 */
record Bert(
    int vocabulary, int context, int size, int intermediate, int layers, Attention attention)
    implements Architecture {
  private static final float EPSILON = 1e-12f;
  private static final int SEGMENTS = 2;

  @Override
  public Bert withLayers(int count) {
    return new Bert(vocabulary, context, size, intermediate, count, attention);
  }

  @Override
  public boolean decodes() {
    return false;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    Scope model = graph.root().in("bert");
    Tokens tokens =
        vocabulary > 0
            ? Tokens.bidirectional(model, sequence)
            : Tokens.bidirectionalFeatures(model, sequence, size);
    String x = vocabulary > 0 ? embed(model.in("embeddings"), tokens, sequence) : tokens.inputs();
    for (int layer = 0; layer < layers; layer++) {
      Scope scope = model.in("encoder").in("layer." + layer);
      Scope output = scope.in("attention").in("output");
      String mixed = attend(scope.in("attention").in("self"), x, tokens, sequence);
      mixed = output.in("dense").linear(mixed, size, size);
      x = output.in("LayerNorm").layerNorm(output.add(mixed, x), size, EPSILON);
      String up = scope.in("intermediate").in("dense").linear(x, size, intermediate);
      String active = scope.in("intermediate").in("intermediate_act_fn").gelu(up);
      output = scope.in("output");
      String down = output.in("dense").linear(active, intermediate, size);
      x = output.in("LayerNorm").layerNorm(output.add(down, x), size, EPSILON);
    }
    graph.output("last_hidden_state", x, Dim.of(1), sequence.tokens(), Dim.of(size));
  }

  private String embed(Scope scope, Tokens tokens, Sequence sequence) {
    String segments =
        sequence.dynamic()
            ? scope.zerosLike(tokens.inputs())
            : scope.graph().zeros(1, sequence.length());
    String words = scope.in("word_embeddings").embedding(tokens.inputs(), vocabulary, size);
    String types = scope.in("token_type_embeddings").embedding(segments, SEGMENTS, size);
    String places = scope.in("position_embeddings").embedding(tokens.positions(), context, size);
    String sum = scope.add(scope.add(words, types), places);
    return scope.in("LayerNorm").layerNorm(sum, size, EPSILON);
  }

  private String attend(Scope scope, String x, Tokens tokens, Sequence sequence) {
    int heads = attention.heads();
    long count = sequence.tokensOrInferred();
    String query = scope.in("query").linear(x, size, size);
    String key = scope.in("key").linear(x, size, size);
    String value = scope.in("value").linear(x, size, size);
    return attention.attend(
        scope,
        attention.split(scope, query, heads, count),
        attention.split(scope, key, heads, count),
        attention.split(scope, value, heads, count),
        tokens.mask(),
        count);
  }
}
