package io.partita.passes.graph.anatomy;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.type.Dim;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One layer of a transformer.
 *
 * @param norms the norms of the block's inputs, outputs and residual sums, in order
 * @param placement the placement of its norms
 * @param residual whether the attention's output is added to its input
 * @param gaps the parts that were not recognised, and why
 */
public record Block(
    int index,
    AttentionPart attention,
    List<FfnPart> ffns,
    List<Node> norms,
    NormPlacement placement,
    boolean residual,
    List<String> gaps) {
  /** The placement of the norms of a block. */
  public enum NormPlacement {
    /** Before attention and feed-forward network, inside the residual. */
    PRE,
    /** After the residual sums. */
    POST,
    /** Before and after each part. */
    BOTH,
    /** After each part, inside the residual. */
    OUTPUT,
    NONE
  }

  /** How rotary embeddings pair the features of queries and keys. */
  public enum Rotation {
    NONE,
    /** Pairs are half of the features apart. */
    HALVES,
    /** Pairs are adjacent. */
    INTERLEAVED
  }

  /**
   * The attention and its projections.
   *
   * @param query the linear that computes queries, and so on; empty if it is not a linear
   * @param output the output projection
   * @param cross whether keys and values come from another sequence than queries, such as that of
   *     an encoder
   * @param rotated the number of rotated features; 0 without rotation
   */
  public record AttentionPart(
      Node node,
      Optional<Projection> query,
      Optional<Projection> key,
      Optional<Projection> value,
      Optional<Projection> output,
      Dim heads,
      Dim kvHeads,
      Dim headSize,
      boolean cross,
      boolean causal,
      boolean masked,
      long window,
      double softCap,
      Rotation rotation,
      Dim rotated,
      Optional<Cache> cache) {
    /** Whether any of its linears is quantised. */
    public boolean hasQuantizedLinears() {
      return Stream.of(query, key, value, output)
          .flatMap(Optional::stream)
          .anyMatch(Projection::quantized);
    }
  }

  /**
   * Keys and values of previous tokens as inputs and outputs of the model; for cross-attention,
   * those of the whole other sequence as inputs.
   *
   * @param presentKey the name of the output; empty if there is none
   */
  public record Cache(String pastKey, String pastValue, String presentKey, String presentValue) {}

  /**
   * @param node the network, or its last product if its linears are quantised
   * @param ups the products of the inner features, the gate first, or one product for both; empty
   *     where the network is one operation
   * @param activation the function of the inner features; empty if it is a table or several
   *     operations
   * @param inner the number of features between its linears
   */
  public record FfnPart(
      Node node,
      List<Node> ups,
      boolean gated,
      Optional<UnaryFunction> activation,
      Dim inner,
      boolean quantized) {
    public FfnPart {
      ups = List.copyOf(ups);
    }
  }

  /** Whether any of its linears is quantised. */
  public boolean hasQuantizedLinears() {
    return attention.hasQuantizedLinears() || ffns.stream().anyMatch(FfnPart::quantized);
  }

  public Block {
    ffns = List.copyOf(ffns);
    norms = List.copyOf(norms);
    gaps = List.copyOf(gaps);
  }
}
