package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Imports operators on sequences and optional values, which exist only during the import: a
 * sequence is a list of values, so its length and all positions must be known; an optional value is
 * the value or nothing.
 */
final class Sequences {
  private static final Map<String, Consumer<Sequences>> OPERATORS =
      Map.ofEntries(
          Map.entry("SequenceEmpty", each -> each.give(List.of())),
          Map.entry("SequenceConstruct", Sequences::construct),
          Map.entry("SequenceInsert", Sequences::insert),
          Map.entry("SequenceErase", Sequences::erase),
          Map.entry("SequenceAt", Sequences::at),
          Map.entry("SequenceLength", Sequences::length),
          Map.entry("ConcatFromSequence", Sequences::concat),
          Map.entry("SplitToSequence", Sequences::split),
          Map.entry("Optional", Sequences::optional),
          Map.entry("OptionalGetElement", Sequences::element),
          Map.entry("OptionalHasElement", Sequences::hasElement));

  private final NodeImport scope;

  private Sequences(NodeImport scope) {
    this.scope = scope;
  }

  /** Whether the node is such an operator, or passes a sequence on unchanged. */
  static boolean handles(Frame.FunctionKey key, NodeImport scope) {
    return key.domain().isEmpty()
        && (OPERATORS.containsKey(key.name())
            || key.name().equals("Identity") && isSequence(scope, 0));
  }

  static void run(NodeProto node, NodeImport scope) {
    Sequences sequences = new Sequences(scope);
    OPERATORS.getOrDefault(node.getOpType(), Sequences::optional).accept(sequences);
  }

  private static boolean isSequence(NodeImport scope, int input) {
    return scope.binding(input) instanceof NameScope.Sequence;
  }

  private void give(List<Value> items) {
    scope.bindResult(0, new NameScope.Sequence(items));
  }

  private List<Value> items() {
    if (scope.binding(0) instanceof NameScope.Sequence(List<Value> items)) {
      return items;
    }
    throw scope.invalid("a sequence", scope.has(0) ? scope.type(0).toString() : "none");
  }

  private void construct() {
    List<Value> items = new ArrayList<>();
    for (int i = 0; i < scope.inputs(); i++) {
      items.add(scope.input(i));
    }
    give(items);
  }

  /** Returns the position of an operand among {@code places}, or the end if it is missing. */
  private int position(int input, int places) {
    if (!scope.has(input)) {
      return places - 1;
    }
    long position = scope.integerOperand(input);
    long fromStart = position < 0 ? position + places : position;
    if (fromStart < 0 || fromStart >= places) {
      throw scope.invalid(
          "a position from " + -places + " to " + (places - 1), Long.toString(position));
    }
    return (int) fromStart;
  }

  private void insert() {
    List<Value> items = new ArrayList<>(items());
    long position = scope.has(2) ? scope.integerOperand(2) : items.size();
    long fromStart = position < 0 ? position + items.size() : position;
    if (fromStart < 0 || fromStart > items.size()) {
      throw scope.invalid(
          "a position from " + -items.size() + " to " + items.size(), Long.toString(position));
    }
    items.add((int) fromStart, scope.input(1));
    give(items);
  }

  private void erase() {
    List<Value> items = new ArrayList<>(items());
    items.remove(position(1, items.size()));
    give(items);
  }

  private void at() {
    scope.output(0, items().get(position(1, items().size())));
  }

  private void length() {
    scope.output(0, scope.constant(Tensor.longs(Shape.SCALAR, items().size())));
  }

  private void concat() {
    List<Value> items = items();
    if (items.isEmpty()) {
      throw scope.unsupported("a sequence without elements", "remove the concatenation");
    }
    boolean isNewAxis = scope.flag("new_axis", false);
    int rank = items.getFirst().type().rank() + (isNewAxis ? 1 : 0);
    int axis = scope.axis(scope.integer("axis"), rank);
    List<Value> parts =
        isNewAxis ? items.stream().map(item -> withAxis(item, axis)).toList() : items;
    scope.output(0, scope.add(new Movement.Concat(axis), parts));
  }

  private Value withAxis(Value x, int axis) {
    List<Dim> dims = new ArrayList<>(x.type().shape().dims());
    dims.add(axis, Dim.ONE);
    return scope.add(new Movement.Reshape(new Shape(dims)), x);
  }

  private void split() {
    Value x = scope.input(0);
    int axis = scope.axis(scope.integer("axis", 0), x.type().rank());
    boolean single = !scope.has(1);
    List<Value> items = new ArrayList<>();
    Dim start = Dim.ZERO;
    for (Dim size : sizes(x.type().dim(axis))) {
      Value part = part(x, axis, start, size);
      boolean keeps = !single || scope.flag("keepdims", true);
      items.add(keeps ? part : scope.add(new Movement.Reshape(without(part, axis)), part));
      start = start.plus(size);
    }
    give(items);
  }

  /** Returns the extents of parts: equal, as listed, or 1. */
  private List<Dim> sizes(Dim extent) {
    if (scope.has(1) && scope.type(1).rank() == 1) {
      return scope.dims(1);
    }
    if (scope.has(1) && scope.dims(1).getFirst().equals(extent)) {
      return List.of(extent);
    }
    long size = scope.has(1) ? scope.integerOperand(1) : 1;
    if (size < 1) {
      throw scope.invalid("parts of at least 1", Long.toString(size));
    }
    long whole = scope.number(extent);
    List<Dim> sizes = new ArrayList<>();
    for (long at = 0; at < whole; at += size) {
      sizes.add(Dim.of(Math.min(size, whole - at)));
    }
    return sizes;
  }

  private Value part(Value x, int axis, Dim start, Dim size) {
    int rank = x.type().rank();
    List<Dim> starts = new ArrayList<>(Collections.nCopies(rank, Dim.ZERO));
    starts.set(axis, start);
    List<Dim> sizes = x.type().shape().with(axis, size).dims();
    return scope.add(new Movement.Slice(starts, sizes, Collections.nCopies(rank, 1L)), x);
  }

  private static Shape without(Value x, int axis) {
    List<Dim> dims = new ArrayList<>(x.type().shape().dims());
    dims.remove(axis);
    return new Shape(dims);
  }

  private NameScope.Binding given() {
    return scope.inputs() == 0 ? new NameScope.Absent() : scope.binding(0);
  }

  private void optional() {
    scope.bindResult(0, given());
  }

  private void element() {
    if (given() instanceof NameScope.Absent) {
      throw scope.invalid("a nonempty optional value", "none");
    }
    scope.bindResult(0, given());
  }

  private void hasElement() {
    boolean isThere = !(given() instanceof NameScope.Absent);
    scope.output(0, scope.constant(Tensor.scalar(ElementType.BOOL, isThere ? 1 : 0)));
  }
}
