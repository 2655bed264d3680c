package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds the valid values of integer inputs that are used as indices of a table or as positions in a
 * cache. The evaluator refuses other values when it uses them ({@code P3202}); a compiled program
 * refuses them when it reads the input.
 *
 * <p>Only operations that keep every element are followed, so that no value is refused that the
 * evaluator accepts.
 */
public final class InputRanges {
  /** A value whose elements are those of an input plus {@code offset}. */
  private record Shifted(String input, long offset) {}

  private final Map<Value, Shifted> known = new IdentityHashMap<>();
  private final Map<String, InputRange> ranges = new LinkedHashMap<>();

  private InputRanges(Module module) {
    Graph graph = module.graph();
    for (Value input : graph.inputs()) {
      boolean isState = module.states().stream().anyMatch(s -> s.input().equals(input.name()));
      if (isIndex(input.type().element()) && !isState) {
        known.put(input, new Shifted(input.name(), 0));
      }
    }
    module.ranges().forEach(range -> ranges.put(range.input(), range));
    graph.nodes().forEach(this::visit);
  }

  /** Returns the module with the ranges that are found, intersected with its own. */
  public static Module record(Module module) {
    InputRanges found = new InputRanges(module);
    List<InputRange> ordered = new ArrayList<>();
    for (Value input : module.graph().inputs()) {
      Optional.ofNullable(found.ranges.get(input.name())).ifPresent(ordered::add);
    }
    return module.withRanges(ordered);
  }

  private static boolean isIndex(ElementType element) {
    return element == ElementType.I64 || element == ElementType.I32;
  }

  private void visit(Node node) {
    shifted(node).ifPresent(value -> known.put(node.result(), value));
    switch (node.op()) {
      case Movement.Gather(int axis) -> index(node, 1, node.operand(0).type().dim(axis));
      case Structured.Embedding embedding -> index(node, 1, node.operand(0).type().dim(0));
      case Structured.CacheUpdate(int axis, boolean circular) when !circular ->
          extent(node.operand(0).type().dim(axis))
              .ifPresent(
                  capacity ->
                      extent(node.operand(1).type().dim(axis))
                          .ifPresent(tokens -> position(node, capacity, tokens)));
      case Movement.ScatterElements(int axis, var reduction) ->
          index(node, 1, node.operand(0).type().dim(axis));
      case Movement.ScatterNd scatter when isSingle(node) ->
          index(node, 1, node.operand(0).type().dim(0));
      case Movement.GatherNd(int batches) when isSingle(node) ->
          index(node, 1, node.operand(0).type().dim(batches));
      case Op other -> {}
    }
  }

  /** Whether tuples of indices have one index. */
  private static boolean isSingle(Node node) {
    return node.operand(1).type().shape().fromEnd(0).is(1);
  }

  /** The position of an update, which may count from the end if the model says so. */
  private void position(Node node, long capacity, long tokens) {
    Value start = node.operand(2);
    while (!start.isInput()
        && (start.definition().op() instanceof Movement.Broadcast
            || start.definition().op() instanceof Movement.Reshape)) {
      start = start.definition().operand(0);
    }
    if (!start.isInput() && isCountedFromEnd(start.definition(), capacity)) {
      limit(start.definition(), 2, -capacity, capacity - tokens);
    } else {
      limit(node, 2, 0, capacity - tokens);
    }
  }

  /** Whether a node is {@code x < 0 ? x + capacity : x}. */
  private boolean isCountedFromEnd(Node node, long capacity) {
    if (!(node.op() instanceof Elementwise.Select)
        || node.operand(0).isInput()
        || !known.containsKey(node.operand(2))) {
      return false;
    }
    Node less = node.operand(0).definition();
    Shifted index = known.get(node.operand(2));
    return less.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.LESS
        && less.operand(0) == node.operand(2)
        && isNumber(less.operand(1), 0)
        && new Shifted(index.input(), index.offset() + capacity).equals(known.get(node.operand(1)));
  }

  private static boolean isNumber(Value value, long number) {
    return !value.isInput()
        && value
            .definition()
            .constant()
            .flatMap(InputRanges::uniform)
            .filter(found -> found == number)
            .isPresent();
  }

  /** An index below 0 counts from the end. */
  private void index(Node node, int operand, Dim dim) {
    extent(dim).ifPresent(rows -> limit(node, operand, -rows, rows - 1));
  }

  private static OptionalLong extent(Dim dim) {
    return dim.isStatic() ? OptionalLong.of(dim.value()) : OptionalLong.empty();
  }

  private void limit(Node node, int operand, long least, long most) {
    Shifted value = known.get(node.operand(operand));
    // An empty result uses no index.
    if (value == null || least > most || isEmpty(node)) {
      return;
    }
    InputRange own = new InputRange(value.input(), least - value.offset(), most - value.offset());
    ranges.merge(
        value.input(),
        own,
        (one, other) ->
            new InputRange(
                one.input(),
                Math.max(one.least(), other.least()),
                Math.min(one.most(), other.most())));
  }

  private static boolean isEmpty(Node node) {
    return node.operands().stream()
        .anyMatch(operand -> operand.type().isStatic() && operand.type().shape().elements() == 0);
  }

  private Optional<Shifted> shifted(Node node) {
    return switch (node.op()) {
      case Movement.Reshape reshape -> same(node, 0);
      case Movement.Transpose transpose -> same(node, 0);
      case Movement.Broadcast broadcast -> same(node, 0);
      case Communication.Relayout relayout -> same(node, 0);
      case Elementwise.Cast(ElementType to) when isIndex(to) && isWider(node, to) -> same(node, 0);
      case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.ADD ->
          moved(node, 0, 1, 1).or(() -> moved(node, 1, 0, 1));
      case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.SUB ->
          moved(node, 0, 1, -1);
      case Op other -> Optional.empty();
    };
  }

  private static boolean isWider(Node node, ElementType to) {
    return to.bits() >= node.operand(0).type().element().bits();
  }

  private Optional<Shifted> same(Node node, int operand) {
    return Optional.ofNullable(known.get(node.operand(operand)));
  }

  /** Follows a sum with a constant of equal, small elements, so that it cannot overflow. */
  private Optional<Shifted> moved(Node node, int value, int by, int sign) {
    if (node.operand(by).isInput() || node.operand(value).type().element() != ElementType.I64) {
      return Optional.empty();
    }
    return node.operand(by)
        .definition()
        .constant()
        .flatMap(InputRanges::uniform)
        .flatMap(
            offset ->
                same(node, value)
                    .map(old -> new Shifted(old.input(), old.offset() + sign * offset)));
  }

  private static Optional<Long> uniform(Tensor constant) {
    if (constant.size() != 1 || Math.abs(constant.getLong(0)) > Integer.MAX_VALUE) {
      return Optional.empty();
    }
    return Optional.of(constant.getLong(0));
  }
}
