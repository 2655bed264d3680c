package io.partita.zoo;

import java.util.List;

/** A pre-norm decoder with learned positions and a tied head: {@code GPT2LMHeadModel}. */
record Gpt2(int vocabulary, int context, int size, int layers, Attention attention)
    implements Architecture {
  private static final float EPSILON = 1e-5f;

  @Override
  public Gpt2 withLayers(int count) {
    return new Gpt2(vocabulary, context, size, count, attention);
  }

  @Override
  public boolean decodes() {
    return true;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    Scope model = graph.root().in("transformer");
    Tokens tokens = Tokens.causal(model, sequence);
    Attention.Cache cache = new Attention.Cache(attention, sequence);
    String words = model.in("wte").embedding(tokens.inputs(), vocabulary, size);
    String places = model.in("wpe").embedding(tokens.positions(), context, size);
    String x = model.add(words, places);
    for (int layer = 0; layer < layers; layer++) {
      Scope scope = model.in("h." + layer);
      String normed = scope.in("ln_1").layerNorm(x, size, EPSILON);
      x = scope.add(attend(scope.in("attn"), normed, layer, tokens, cache), x);
      normed = scope.in("ln_2").layerNorm(x, size, EPSILON);
      x = scope.add(x, feedForward(scope.in("mlp"), normed));
    }
    x = model.in("ln_f").layerNorm(x, size, EPSILON);
    Scope head = graph.root().in("lm_head");
    String logits = head.matMul(x, head.transpose("transformer.wte.weight", 1, 0));
    graph.output("logits", logits, Dim.of(1), sequence.tokens(), Dim.of(vocabulary));
    cache.output(graph);
  }

  private String attend(Scope scope, String x, int layer, Tokens tokens, Attention.Cache cache) {
    int heads = attention.heads();
    long count = cache.sequence().tokensOrInferred();
    List<String> parts =
        scope.split(scope.in("c_attn").linear(x, size, 3 * size), 2, size, size, size);
    String query = attention.split(scope, parts.get(0), heads, count);
    String key = attention.split(scope, parts.get(1), heads, count);
    String value = attention.split(scope, parts.get(2), heads, count);
    key = cache.extend(scope, "key", layer, key);
    value = cache.extend(scope, "value", layer, value);
    String mixed = attention.attend(scope, query, key, value, tokens.mask(), count);
    return scope.in("c_proj").linear(mixed, size, size);
  }

  private String feedForward(Scope scope, String x) {
    String up = scope.in("c_fc").linear(x, size, 4 * size);
    return scope.in("c_proj").linear(scope.in("act").geluTanh(up), 4 * size, size);
  }
}
