package io.partita.zoo;

import io.partita.zoo.Weight.Use;

/**
 * A decoder with RMS norms, rotary positions and no biases: {@code LlamaForCausalLM}.
 *
 * @param vocabulary the number of tokens; 0 for blocks alone, from features to features
 * @param tied whether the LM head is the transposed embedding table
 * @param positions the least number of rows of the cosine and sine tables
 * @param context the number of tokens for which the rotary embedding was trained
 */
record Llama(
    int vocabulary,
    int size,
    int intermediate,
    int layers,
    Attention attention,
    FeedForward feedForward,
    Rotary rotary,
    boolean tied,
    int positions,
    int context)
    implements Architecture {
  private static final float EPSILON = 1e-5f;

  /** The feed-forward network. */
  enum FeedForward {
    /** {@code gelu(x W1) W2}. */
    GELU,
    /** {@code (silu(x Wgate) * x Wup) Wdown}. */
    GATED_SILU
  }

  /** The rotary tables' rows for the new tokens, {@code [tokens, headSize]}. */
  private record Angles(String cosines, String sines) {}

  @Override
  public Llama withLayers(int count) {
    return new Llama(
        vocabulary,
        size,
        intermediate,
        count,
        attention,
        feedForward,
        rotary,
        tied,
        positions,
        context);
  }

  @Override
  public boolean decodes() {
    return true;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    Scope model = graph.root().in("model");
    boolean isWhole = vocabulary > 0;
    Tokens tokens =
        isWhole ? Tokens.causal(model, sequence) : Tokens.causalFeatures(model, sequence, size);
    Attention.Cache cache = new Attention.Cache(attention, sequence);
    String x =
        isWhole
            ? model.in("embed_tokens").embedding(tokens.inputs(), vocabulary, size)
            : tokens.inputs();
    Angles angles = angles(model.in("rotary_emb"), tokens, sequence);
    for (int layer = 0; layer < layers; layer++) {
      Scope scope = model.in("layers." + layer);
      String normed = scope.in("input_layernorm").rmsNorm(x, size, EPSILON);
      Scope self = scope.in("self_attn");
      x = scope.add(x, attend(self, normed, layer, tokens, angles, cache));
      normed = scope.in("post_attention_layernorm").rmsNorm(x, size, EPSILON);
      x = scope.add(x, feedForward(scope.in("mlp"), normed));
    }
    if (isWhole) {
      x = model.in("norm").rmsNorm(x, size, EPSILON);
      String logits = logits(graph.root().in("lm_head"), x);
      graph.output("logits", logits, Dim.of(1), sequence.tokens(), Dim.of(vocabulary));
    } else {
      graph.output("last_hidden_state", x, Dim.of(1), sequence.tokens(), Dim.of(size));
    }
    cache.output(graph);
  }

  private Angles angles(Scope scope, Tokens tokens, Sequence sequence) {
    int rows = Math.max(positions, sequence.length());
    int columns = rotary.headSize();
    Fill cosines = new Fill.RotaryTable(rotary, true);
    Fill sines = new Fill.RotaryTable(rotary, false);
    String cosineTable = scope.declare("cos_cached", Use.BUFFER, cosines, rows, columns);
    String sineTable = scope.declare("sin_cached", Use.BUFFER, sines, rows, columns);
    return new Angles(
        scope.gather(cosineTable, tokens.positions(), 0),
        scope.gather(sineTable, tokens.positions(), 0));
  }

  private String attend(
      Scope scope, String x, int layer, Tokens tokens, Angles angles, Attention.Cache cache) {
    int querySize = attention.heads() * attention.headSize();
    int keySize = attention.kvHeads() * attention.headSize();
    long count = cache.sequence().tokensOrInferred();
    String query = scope.in("q_proj").project(x, size, querySize);
    String key = scope.in("k_proj").project(x, size, keySize);
    String value = scope.in("v_proj").project(x, size, keySize);
    query = rotate(scope, attention.split(scope, query, attention.heads(), count), angles);
    key = rotate(scope, attention.split(scope, key, attention.kvHeads(), count), angles);
    value = attention.split(scope, value, attention.kvHeads(), count);
    key = cache.extend(scope, "key", layer, key);
    value = cache.extend(scope, "value", layer, value);
    String mixed = attention.attend(scope, query, key, value, tokens.mask(), count);
    return scope.in("o_proj").project(mixed, querySize, size);
  }

  /** {@code x * cos + concat(-x[half:], x[:half]) * sin}. */
  private String rotate(Scope scope, String x, Angles angles) {
    int half = attention.headSize() / 2;
    String first = scope.slice(x, 3, 0, half);
    String second = scope.slice(x, 3, half, attention.headSize());
    String turned = scope.concat(-1, scope.op("Neg", second), first);
    return scope.add(scope.mul(x, angles.cosines), scope.mul(turned, angles.sines));
  }

  private String feedForward(Scope scope, String x) {
    return switch (feedForward) {
      case GELU -> {
        String up = scope.in("up_proj").project(x, size, intermediate);
        String active = scope.in("act_fn").gelu(up);
        yield scope.in("down_proj").project(active, intermediate, size);
      }
      case GATED_SILU -> {
        String gate = scope.in("gate_proj").project(x, size, intermediate);
        String active = scope.in("act_fn").silu(gate);
        String up = scope.in("up_proj").project(x, size, intermediate);
        yield scope.in("down_proj").project(scope.mul(active, up), intermediate, size);
      }
    };
  }

  private String logits(Scope head, String x) {
    return tied
        ? head.matMul(x, head.transpose("model.embed_tokens.weight", 1, 0))
        : head.project(x, size, vocabulary);
  }
}
