package io.partita.passes.graph.raise.embedding;

import io.partita.passes.rewrite.RewriteRule;
import java.util.List;

/** The rules that recover embeddings. */
public final class EmbeddingRules {
  public static final List<RewriteRule> RULES =
      List.of(new RaiseEmbedding(), new RaisePatchEmbedding());

  private EmbeddingRules() {}
}
