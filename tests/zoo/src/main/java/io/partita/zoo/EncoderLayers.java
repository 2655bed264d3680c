package io.partita.zoo;

import java.util.Optional;

/** The pre-norm layers of {@code ViTEncoder}: every token sees all tokens. */
record EncoderLayers(int size, int intermediate, int layers, Attention attention, float epsilon) {
  /**
   * @param x {@code [1, tokens, size]}
   * @param tokens their number, -1 if dynamic
   * @return {@code [1, tokens, size]}
   */
  String write(Scope encoder, String x, long tokens) {
    for (int layer = 0; layer < layers; layer++) {
      Scope scope = encoder.in("layer." + layer);
      String normed = scope.in("layernorm_before").layerNorm(x, size, epsilon);
      x = scope.add(attend(scope.in("attention"), normed, tokens), x);
      normed = scope.in("layernorm_after").layerNorm(x, size, epsilon);
      String up = scope.in("intermediate").in("dense").linear(normed, size, intermediate);
      String active = scope.in("intermediate").in("intermediate_act_fn").gelu(up);
      Scope output = scope.in("output");
      x = output.add(output.in("dense").linear(active, intermediate, size), x);
    }
    return x;
  }

  private String attend(Scope scope, String x, long tokens) {
    Scope self = scope.in("attention");
    int heads = attention.heads();
    String key = self.in("key").linear(x, size, size);
    String value = self.in("value").linear(x, size, size);
    String query = self.in("query").linear(x, size, size);
    String mixed =
        attention.attend(
            self,
            attention.split(self, query, heads, tokens),
            attention.split(self, key, heads, tokens),
            attention.split(self, value, heads, tokens),
            Optional.empty(),
            tokens);
    return scope.in("output").in("dense").linear(mixed, size, size);
  }
}
