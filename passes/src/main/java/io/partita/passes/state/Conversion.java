package io.partita.passes.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.raise.attention.AttentionChange;
import io.partita.passes.raise.mask.MaskMeaning;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Changes a graph's attentions over growing caches to attentions over caches of fixed capacity. */
final class Conversion {
  private final GraphEditor graph;
  private final Dim past;
  private final long capacity;
  private final Map<Value, Value> updated = new IdentityHashMap<>();
  private final Map<Value, MaskMeaning> masks = new IdentityHashMap<>();
  private final List<Module.State> states = new ArrayList<>();
  private Position position;

  Conversion(GraphEditor graph, Dim past, long capacity) {
    this.graph = graph;
    this.past = past;
    this.capacity = capacity;
  }

  List<Module.State> convert() {
    List<Node> nodes = graph.nodes();
    graph.before(nodes.getFirst());
    for (Node node : nodes) {
      if (node.op() instanceof Structured.Attention && isCached(node)) {
        convert(node);
      }
    }
    new PastLength(past.toString(), position, graph).replace();
    return states;
  }

  private boolean isCached(Node attention) {
    return CachedValues.of(attention.operand(1), graph).isPresent()
        || updated.containsKey(attention.operand(1));
  }

  private void convert(Node node) {
    CachedValues keys = cached(node, 1, "keys");
    CachedValues values = cached(node, 2, "values");
    Structured.Attention attention = (Structured.Attention) node.op();
    long window = window(node, attention);
    boolean isCausal = isCausal(node, attention) && !keys.newLength().is(1) || window > 0;
    if (position == null) {
      position = Position.of(graph, keys.past().type().dim(0));
    }
    graph.before(node);
    List<Value> operands = new ArrayList<>();
    operands.add(graph.operand(node, 0));
    operands.add(update(keys));
    operands.add(update(values));
    operands.add(position.after(keys.newLength(), graph));
    AttentionChange change = AttentionChange.of(attention).withoutMask();
    Value result =
        graph.add(
            (isCausal ? change.causalAtKeyLength(window) : change.keyLength()).op(), operands);
    graph.replace(node.result(), result);
  }

  private CachedValues cached(Node node, int operand, String what) {
    return CachedValues.of(node.operand(operand), graph)
        .orElseThrow(
            () ->
                KvStatePass.noCache(
                    "node \"" + node.name() + "\"",
                    "past " + what + " joined with new ones, and an output with them",
                    node.operand(operand).toString()));
  }

  /** The cache with the new keys or values in it, which takes the place of the joined ones. */
  private Value update(CachedValues cache) {
    Value before = updated.get(cache.joined());
    if (before != null) {
      return before;
    }
    Shape shape = cache.past().type().shape().with(2, Dim.of(capacity));
    Value state = graph.retypeInput(cache.past(), cache.past().type().with(shape));
    Value after =
        graph.add(new Structured.CacheUpdate(2, false), state, cache.fresh(), position.starts());
    updated.put(cache.joined(), after);
    states.add(new Module.State(cache.past().name(), cache.output()));
    graph.setOutput(cache.output(), after);
    return after;
  }

  private boolean isCausal(Node node, Structured.Attention attention) {
    if (attention.causal()) {
      requireOffset(node, attention.offset());
      return true;
    }
    return attention.mask() && meaning(node).causal();
  }

  private long window(Node node, Structured.Attention attention) {
    if (attention.window() > 0 || !attention.mask()) {
      return attention.window();
    }
    return meaning(node).window();
  }

  /** What the mask hides, which must be later keys, keys outside of a window, and padding. */
  private MaskMeaning meaning(Node node) {
    Value mask = graph.operand(node, 3);
    Shape q = graph.operand(node, 0).type().shape();
    Shape scores = q.with(3, node.operand(1).type().dim(2));
    MaskMeaning meaning = masks.computeIfAbsent(mask, key -> MaskMeaning.of(key, scores, graph));
    if (!meaning.reason().isEmpty()) {
      throw KvStatePass.noCache(
          "node \"" + node.name() + "\"",
          "a mask of later keys, a window or padding",
          meaning.reason());
    }
    if (meaning.causal()) {
      requireOffset(node, meaning.offset());
    }
    return meaning;
  }

  private void requireOffset(Node node, Dim offset) {
    if (!offset.equals(past)) {
      throw KvStatePass.noCache(
          "node \"" + node.name() + "\"",
          "a causal mask whose first query stands at " + past,
          "one at " + offset);
    }
  }
}
