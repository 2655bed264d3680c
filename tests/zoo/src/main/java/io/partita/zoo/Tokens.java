package io.partita.zoo;

import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The token side of a model's inputs.
 *
 * @param ids {@code [1, tokens]} i64
 * @param positions {@code [tokens]} i64
 * @param mask what is added to attention's scores, {@code [tokens, tokens]}; nothing when all
 *     tokens see each other
 */
record Tokens(String ids, String positions, Optional<String> mask) {
  /** What is added to the score of a token that isn't visible: the least f32. */
  private static final float HIDDEN = -Float.MAX_VALUE;

  /** Of a language model: a token sees itself and those before it. */
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

  /** Of an encoder: all tokens see each other. */
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
