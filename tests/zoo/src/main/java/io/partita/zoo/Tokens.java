package io.partita.zoo;

import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The token inputs of a model.
 *
 * @param inputs the ids of the tokens, {@code [1, tokens]} i64; or their features, {@code [1,
 *     tokens, size]}, in a model without embedding
 * @param positions {@code [tokens]} i64
 * @param mask the mask added to attention's scores, {@code [tokens, tokens]}; empty if all tokens
 *     see each other
 */
record Tokens(String inputs, String positions, Optional<String> mask) {
  /** The value added to the score of an invisible token: the smallest f32. */
  private static final float HIDDEN = -Float.MAX_VALUE;

  /** The tokens of a language model: each sees itself and earlier ones. */
  static Tokens causal(Scope model, Sequence sequence) {
    return bidirectional(model, sequence).masked(model, sequence);
  }

  /** The tokens of a language model without embedding. */
  static Tokens causalFeatures(Scope model, Sequence sequence, int size) {
    return bidirectionalFeatures(model, sequence, size).masked(model, sequence);
  }

  private Tokens masked(Scope model, Sequence sequence) {
    OnnxGraph graph = model.graph();
    if (sequence.decodes()) {
      return this;
    }
    String keys = model.unsqueeze(positions, 0);
    String queries = model.unsqueeze(positions, 1);
    String visible = model.op("LessOrEqual", keys, queries);
    String mask = model.op("Where", visible, graph.constant(0f), graph.constant(HIDDEN));
    return new Tokens(inputs, positions, Optional.of(mask));
  }

  /** The tokens of an encoder, which all see each other. */
  static Tokens bidirectional(Scope model, Sequence sequence) {
    OnnxGraph graph = model.graph();
    String ids = graph.input("input_ids", OnnxGraph.INT64, Dim.of(1), sequence.tokens());
    return new Tokens(ids, positions(model, ids, sequence), Optional.empty());
  }

  /** The tokens of an encoder without embedding. */
  static Tokens bidirectionalFeatures(Scope model, Sequence sequence, int size) {
    OnnxGraph graph = model.graph();
    String features =
        graph.input("features", OnnxGraph.FLOAT, Dim.of(1), sequence.tokens(), Dim.of(size));
    return new Tokens(features, positions(model, features, sequence), Optional.empty());
  }

  private static String positions(Scope model, String inputs, Sequence sequence) {
    OnnxGraph graph = model.graph();
    if (sequence.decodes()) {
      return graph.input("position", OnnxGraph.INT64, Dim.of(1));
    }
    if (sequence.dynamic()) {
      return model.op("Range", graph.scalar(0), model.length(inputs, 1), graph.scalar(1));
    }
    return graph.vector(LongStream.range(0, sequence.length()).toArray());
  }
}
