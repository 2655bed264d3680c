package io.partita.passes.graph.anatomy;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The structure of a transformer, as found in its raised graph.
 *
 * @param blocks the raised attentions with their norms and networks, in order
 * @param candidates the number of attentions before raising, counted without the rules, and at
 *     least the number of raised ones, because queries may be weights
 * @param integerAttentions the number of attentions of quantised or integer networks, which are not
 *     raised
 * @param misses candidates that were neither raised nor recognised as quantised
 * @param embeddings lookups, and constant tables that are added to them
 * @param head the linear to the vocabulary or to the classes
 */
public record ModelAnatomy(
    List<Block> blocks,
    int candidates,
    List<Candidate> integerAttentions,
    List<Candidate> misses,
    List<EmbeddingTable> embeddings,
    Optional<Node> patchEmbedding,
    Optional<Node> classToken,
    Optional<Head> head) {
  /**
   * A softmax of a product of two computed values.
   *
   * @param node the softmax
   * @param reason why it was not raised
   */
  public record Candidate(Node node, String reason) {}

  /** The meaning of the rows of an {@link EmbeddingTable}. */
  public enum EmbeddingKind {
    TOKEN,
    POSITION,
    TYPE
  }

  /**
   * @param node the lookup, or the addition of a table that does not depend on inputs
   */
  public record EmbeddingTable(Node node, EmbeddingKind kind, long rows, long features) {}

  /**
   * @param vocabulary whether its outputs are scores of the tokens of the embedding
   * @param tied whether it uses the embedding's table
   */
  public record Head(Node node, long outputs, boolean vocabulary, boolean tied) {}

  public ModelAnatomy {
    blocks = List.copyOf(blocks);
    integerAttentions = List.copyOf(integerAttentions);
    misses = List.copyOf(misses);
    embeddings = List.copyOf(embeddings);
  }

  /** Examines a model that is raised, or that raising doesn't change. */
  public static ModelAnatomy of(Graph raised) {
    AttentionCandidates candidates = new AttentionCandidates(raised);
    return of(raised, candidates, candidates);
  }

  /**
   * Examines a model.
   *
   * @param imported the graph before raising, from which candidates are counted
   * @param raised the graph after raising
   */
  public static ModelAnatomy of(Graph imported, Graph raised) {
    return of(raised, new AttentionCandidates(imported), new AttentionCandidates(raised));
  }

  private static ModelAnatomy of(
      Graph raised, AttentionCandidates before, AttentionCandidates after) {
    List<Candidate> integer = new ArrayList<>();
    List<Candidate> misses = new ArrayList<>();
    for (AttentionCandidates.Found found : after.softmaxes()) {
      (found.isQuantized() ? integer : misses).add(new Candidate(found.node(), found.reason()));
    }
    Flow flow = new Flow(raised);
    Projections projections = new Projections(raised, flow);
    EmbeddingAndHead surroundings = new EmbeddingAndHead(raised, flow, projections);
    return new ModelAnatomy(
        new BlockFinder(raised, flow, projections).blocks(),
        Math.max(before.count(), after.count()),
        integer,
        misses,
        surroundings.embeddings(),
        surroundings.patchEmbedding(),
        surroundings.classToken(),
        surroundings.head());
  }

  /** Returns the number of blocks whose parts were all recognised. */
  public long completeBlocks() {
    return blocks.stream().filter(block -> block.gaps().isEmpty()).count();
  }

  /** {@code 12 of 12 blocks raised}, and the obstacles of the others. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(summary());
    for (Candidate miss : misses) {
      lines.add("not raised: \"" + miss.node().name() + "\": " + miss.reason());
    }
    for (Block block : blocks) {
      for (String gap : block.gaps()) {
        lines.add(
            "block " + block.index() + " \"" + block.attention().node().name() + "\": " + gap);
      }
    }
    return lines;
  }

  /** Describes the blocks of an integer model that were raised and that were not. */
  private String summary() {
    long raised = completeBlocks();
    boolean isQuantized = blocks.stream().anyMatch(Block::hasQuantizedLinears);
    if (integerAttentions.isEmpty() && !isQuantized) {
      return raised + " of " + candidates + " blocks raised";
    }
    return (raised + integerAttentions.size())
        + " of "
        + candidates
        + " blocks recognised: "
        + raised
        + " raised"
        + (isQuantized ? " with quantised linears" : "")
        + (integerAttentions.isEmpty()
            ? ""
            : ", " + integerAttentions.size() + " of integers kept");
  }
}
