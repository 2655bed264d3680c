package io.partita.passes.planning.search;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import java.util.Optional;

/**
 * Facts that limit the number of parts of a model.
 *
 * @param blocks the number of transformer blocks, including integer ones
 * @param heads the query heads of the widest attention; 0 without attention
 * @param kvHeads its key and value heads
 * @param tokens the new tokens of a run: the rows of queries; 0 without attention
 * @param isQuantized whether there are products of fewer bits than their results
 */
public record ModelFacts(long blocks, long heads, long kvHeads, long tokens, boolean isQuantized) {
  /** Returns the facts of a raised module of static shapes. */
  static ModelFacts of(Graph raised, ModelAnatomy anatomy) {
    long heads = 0;
    long kvHeads = 0;
    long tokens = 0;
    boolean isQuantized = false;
    for (Node node : raised.nodes()) {
      if (node.op() instanceof Structured.Attention) {
        TensorType queries = type(node, 0);
        if (queries.shape().extent(1) > heads) {
          heads = queries.shape().extent(1);
          kvHeads = type(node, 1).shape().extent(1);
        }
        tokens = Math.max(tokens, queries.shape().extent(2));
      }
      isQuantized |=
          node.op() instanceof Contraction
              && type(node, 0).element().bits() < node.results().getFirst().type().element().bits();
    }
    long blocks = anatomy.blocks().size() + anatomy.integerAttentions().size();
    return new ModelFacts(blocks, heads, kvHeads, tokens, isQuantized);
  }

  /** Returns why a strategy does not apply to the model; empty if it may. */
  Optional<String> objection(Strategy strategy) {
    int sequence = strategy.devices(Kind.SEQUENCE);
    int pipeline = strategy.devices(Kind.PIPELINE);
    if (sequence * pipeline > 1 && blocks == 0) {
      return Optional.of("no transformer block was recognised");
    } else if (sequence > 1 && tokens < sequence) {
      return Optional.of("a run has " + tokens + (tokens == 1 ? " token" : " tokens"));
    } else if (pipeline > 1 && blocks < pipeline) {
      return Optional.of("the model has " + blocks + (blocks == 1 ? " block" : " blocks"));
    }
    return Optional.empty();
  }

  private static TensorType type(Node node, int operand) {
    Value value = node.operand(operand);
    return value.type();
  }
}
