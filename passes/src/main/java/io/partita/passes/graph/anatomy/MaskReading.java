package io.partita.passes.graph.anatomy;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.mask.MaskMeaning;
import java.util.IdentityHashMap;
import java.util.Map;

/** Analyses the masks of attentions; results are shared between layers. */
final class MaskReading {
  private final GraphEditor graph;
  private final Map<Value, Boolean> causal = new IdentityHashMap<>();

  MaskReading(Graph graph) {
    this.graph = new GraphEditor(graph);
  }

  /** Whether the attention's mask hides later keys, possibly in addition to padding. */
  boolean isCausal(Node attention) {
    return ((Structured.Attention) attention.op()).mask()
        && causal.computeIfAbsent(
            attention.operand(3), mask -> MaskMeaning.of(mask, scores(attention), graph).causal());
  }

  private static Shape scores(Node attention) {
    Shape q = attention.operand(0).type().shape();
    return q.with(3, attention.operand(1).type().dim(2));
  }
}
