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
 * @param norms those of the block's inputs, outputs and of its sums with the residual, in order
 * @param placement where its norms stand
 * @param residual whether the attention's output is added to its input
 * @param gaps what of the block wasn't recognised, and why
 */
public record Block(
    int index,
    AttentionPart attention,
    List<FfnPart> ffns,
    List<Node> norms,
    NormPlacement placement,
    boolean residual,
    List<String> gaps) {
  /** Where a block's norms stand. */
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

  /** How positions enter queries and keys. */
  public enum Rotation {
    NONE,
    /** Pairs are a half apart. */
    HALVES,
    /** Pairs are neighbours. */
    INTERLEAVED
  }

  /**
   * The attention and its projections.
   *
   * @param query the linear that makes queries, and so on; none where it isn't a linear
   * @param output the linear that joins the heads
   * @param cross whether keys and values are of another sequence than queries, such as an encoder's
   * @param rotated features that are rotated, 0 without rotation
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
    /** Whether some of its linears multiply integers. */
    public boolean hasQuantizedLinears() {
      return Stream.of(query, key, value, output)
          .flatMap(Optional::stream)
          .anyMatch(Projection::quantized);
    }
  }

  /**
   * Keys and values of former tokens as inputs and outputs of the model; or, for another
   * sequence's, all of them as inputs.
   *
   * @param presentKey name of the output, empty where the model doesn't give it
   */
  public record Cache(String pastKey, String pastValue, String presentKey, String presentValue) {}

  /**
   * @param node the network; where its linears are quantised, the last product
   * @param inner features between its linears
   */
  public record FfnPart(
      Node node, boolean gated, UnaryFunction activation, Dim inner, boolean quantized) {}

  /** Whether some linears multiply integers. */
  public boolean hasQuantizedLinears() {
    return attention.hasQuantizedLinears() || ffns.stream().anyMatch(FfnPart::quantized);
  }

  public Block {
    ffns = List.copyOf(ffns);
    norms = List.copyOf(norms);
    gaps = List.copyOf(gaps);
  }
}
