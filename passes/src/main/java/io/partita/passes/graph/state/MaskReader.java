package io.partita.passes.graph.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.mask.MaskMeaning;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Analyses masks of attentions over a cache: by the formula of their elements, which holds for all
 * positions and extents, or else by their values at each position.
 */
final class MaskReader {
  private final GraphEditor graph;
  private final Dim past;
  private final Dim fresh;
  private final long capacity;
  private final FilledInputs filled;
  private final Positional positional;
  private final Map<Key, MaskForm> known = new HashMap<>();

  /** Results by mask and by the causality and window of the attention itself. */
  private record Key(List<Value> operands, Structured.Attention rules) {}

  MaskReader(
      GraphEditor graph,
      Dim past,
      Dim fresh,
      long capacity,
      FilledInputs filled,
      Positional positional) {
    this.graph = graph;
    this.past = past;
    this.fresh = fresh;
    this.capacity = capacity;
    this.filled = filled;
    this.positional = positional;
  }

  MaskForm read(Node node) {
    Structured.Attention attention = (Structured.Attention) node.op();
    List<Value> operands = graph.operands(node);
    Key key = new Key(operands.subList(3, operands.size()), attention);
    MaskForm form = known.get(key);
    if (form == null) {
      form = read(node, attention);
      known.put(key, form);
    }
    return form;
  }

  private MaskForm read(Node node, Structured.Attention attention) {
    if (attention.keyLength()) {
      requireLength(node);
    } else if (attention.causal()) {
      requireOffset(node, attention.offset());
    }
    if (!attention.mask()) {
      boolean isAllSeen = fresh.is(1) || !attention.causal();
      return MaskForm.of(!isAllSeen || attention.window() > 0, attention.window());
    }
    return byFormula(node, attention).orElseGet(() -> byValues(node, attention));
  }

  private void requireOffset(Node node, Dim offset) {
    if (!offset.equals(past)) {
      throw refused(node, "a causal mask whose first query is at " + past, "one at " + offset);
    }
  }

  private Optional<MaskForm> byFormula(Node node, Structured.Attention attention) {
    if (attention.causal() || attention.window() > 0) {
      return Optional.empty();
    }
    Shape scores =
        graph.operand(node, 0).type().shape().with(3, graph.operand(node, 1).type().dim(2));
    MaskMeaning meaning = MaskMeaning.of(graph.operand(node, 3), scores, graph);
    boolean isRead =
        meaning.reason().isEmpty()
            && meaning.padding().stream().allMatch(filled::isMask)
            && (!meaning.causal() || meaning.offset().equals(past));
    return isRead
        ? Optional.of(
            MaskForm.of(meaning.causal() && !fresh.is(1) || meaning.window() > 0, meaning.window()))
        : Optional.empty();
  }

  private MaskForm byValues(Node node, Structured.Attention attention) {
    Value mask = graph.operand(node, 3);
    if (!positional.contains(mask)) {
      throw refused(
          node,
          "a mask that depends only on the tokens' positions",
          "one that also depends on " + String.join(", ", undecided(mask)));
    }
    requireNumbers(new TreeSet<>(fresh.symbols()), node);
    MaskSweep sweep =
        new MaskSweep(
            fresh.value(),
            capacity,
            attention.causal(),
            attention.window(),
            node.result().type().element());
    requireNumbers(
        positional.sweep(
            List.of(mask),
            capacity - fresh.value(),
            (at, values) -> sweep.accept(at, values.getFirst())),
        node);
    return sweep
        .form()
        .orElseThrow(() -> refused(node, "a mask of keys by their positions", sweep.reason()));
  }

  /** Returns the inputs on which a value depends and that are not determined by the position. */
  private SortedSet<String> undecided(Value value) {
    SortedSet<String> names = new TreeSet<>();
    List<Value> work = new ArrayList<>(List.of(graph.resolve(value)));
    Map<Value, Boolean> seen = new HashMap<>();
    while (!work.isEmpty()) {
      Value next = work.removeLast();
      if (seen.put(next, true) != null || positional.contains(next)) {
        continue;
      }
      if (next.isInput()) {
        names.add("the input " + next.name());
      } else {
        work.addAll(graph.operands(next.definition()));
      }
    }
    return names;
  }

  /** Checks that the number of keys is that of past and new tokens. */
  private void requireLength(Node node) {
    Value length = graph.operands(node).getLast();
    if (!positional.contains(length)) {
      throw refused(
          node, "as many keys as tokens", "a number of keys that is known only at run time");
    }
    requireNumbers(new TreeSet<>(fresh.symbols()), node);
    requireNumbers(
        positional.sweep(
            List.of(length),
            capacity - fresh.value(),
            (at, values) -> {
              if (!values.getFirst().isFilledWith(at + fresh.value())) {
                throw refused(
                    node,
                    "as many keys as tokens",
                    values.getFirst().getLong(0) + " keys of " + (at + fresh.value()) + " tokens");
              }
            }),
        node);
  }

  static void requireNumbers(SortedSet<String> open, Node node) {
    if (!open.isEmpty()) {
      throw refused(
          node,
          "static dimensions except for the length of the past, to compute the mask",
          "the symbols " + String.join(", ", open));
    }
  }

  private static RuntimeException refused(Node node, String expected, String found) {
    return KvStatePass.noCache("node \"" + node.name() + "\"", expected, found);
  }
}
