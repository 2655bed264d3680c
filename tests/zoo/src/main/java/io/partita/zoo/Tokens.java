package io.partita.zoo;

import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The token inputs of a model.
 *
 * @param ids {@code [1, tokens]} i64
 * @param positions {@code [tokens]} i64
 * @param mask the mask added to attention's scores, {@code [tokens, tokens]}; empty if all tokens
 *     see each other
 */
record Tokens(String ids, String positions, Optional<String> mask) {
  /** The value added to the score of an invisible token: the smallest f32. */
  private static final float HIDDEN = -Float.MAX_VALUE;

  /** The tokens of a language model: each sees itself and earlier ones. */
  static Tokens causal(Scope model, Sequence sequence) {
    OnnxGraph graph = model.graph();
    Tokens all = bidirectional(model, sequence);
    if (sequence.decodes()) {
      return all;
    }
    String keys = model.unsqueeze(all.positions, 0);
    String queries = model.unsqueeze(all.positions, 1);
    String visible = model.op("LessOrEqual", keys, queries);
    String mask = model.op("Where", visible, graph.constant(0f), graph.constant(HIDDEN));
    return new Tokens(all.ids, all.positions, Optional.of(mask));
  }

  /** The tokens of an encoder, which all see each other. */
  static Tokens bidirectional(Scope model, Sequence sequence) {
    OnnxGraph graph = model.graph();
    String ids = graph.input("input_ids", OnnxGraph.INT64, Dim.of(1), sequence.tokens());
    return new Tokens(ids, positions(model, ids, sequence), Optional.empty());
  }

  private static String positions(Scope model, String ids, Sequence sequence) {
    OnnxGraph graph = model.graph();
    if (sequence.decodes()) {
      return graph.input("position", OnnxGraph.INT64, Dim.of(1));
    }
    if (sequence.dynamic()) {
      return model.op("Range", graph.scalar(0), model.length(ids, 1), graph.scalar(1));
    }
    return graph.vector(LongStream.range(0, sequence.length()).toArray());
  }
}
