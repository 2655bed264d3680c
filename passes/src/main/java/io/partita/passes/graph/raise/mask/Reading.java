package io.partita.passes.graph.raise.mask;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Derives formulas of tensor elements from the nodes that compute them. */
final class Reading {
  private static final int MAX_STEPS = 4000;
  private static final int MAX_DEPTH = 100;

  private final GraphEditor graph;
  private final Logic logic;
  private final List<Dim> extents;
  private int steps;
  private int depth;

  /**
   * @param extents the extents of the indices of formulas
   */
  Reading(GraphEditor graph, List<Dim> extents) {
    this.graph = graph;
    this.extents = extents;
    this.logic = new Logic(extents);
  }

  Meaning at(Value value, List<Affine> index) {
    if (steps++ > MAX_STEPS || depth > MAX_DEPTH) {
      return new Meaning.Unknown("the mask has too many operations");
    }
    Value resolved = graph.resolve(value);
    Node node = graph.definition(resolved).orElse(null);
    if (node == null) {
      return new Meaning.Lookup(resolved, index);
    }
    depth++;
    Meaning meaning = at(node, index);
    depth--;
    return meaning;
  }

  private Meaning operand(Node node, int operand, List<Affine> index) {
    return at(node.operand(operand), index);
  }

  private Meaning at(Node node, List<Affine> index) {
    return switch (node.op()) {
      case Source.Constant(Tensor data) ->
          ConstantReading.at(data, index, node.result(), extents.size());
      case Source.Iota iota -> index.getFirst();
      case Source.Extent(Dim size) -> Affine.constant(size, extents.size());
      case Movement movement -> movement(movement, node, index);
      case Elementwise elementwise -> elementwise(elementwise, node, index);
      case Reduction.Cumulative cumulative when !cumulative.product() ->
          sumOfZeros(operand(node, 0, index));
      case Op other -> new Meaning.Lookup(node.results().getFirst(), index);
    };
  }

  private Meaning sumOfZeros(Meaning term) {
    Affine zero = Affine.constant(Dim.ZERO, extents.size());
    return term.equals(zero) ? zero : new Meaning.Unknown("a running sum");
  }

  private Meaning elementwise(Elementwise op, Node node, List<Affine> index) {
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) -> {
        Meaning meaning = at(node.operand(0), index);
        yield function == UnaryFunction.NOT
            ? logic.not(meaning)
            : new Meaning.Unknown(function.text());
      }
      case Elementwise.Binary(BinaryFunction function) ->
          logic.binary(function, expanded(node, 0, index), expanded(node, 1, index));
      case Elementwise.Select select ->
          logic.choice(
              expanded(node, 0, index), expanded(node, 1, index), expanded(node, 2, index));
      case Elementwise.Cast(var to) -> logic.cast(operand(node, 0, index), to);
    };
  }

  /** Reads an operand that broadcasts to the shape of {@code index}. */
  private Meaning expanded(Node node, int operand, List<Affine> index) {
    Value value = graph.resolve(node.operand(operand));
    return at(value, expanded(value.type().shape(), index));
  }

  private List<Affine> expanded(Shape shape, List<Affine> index) {
    List<Affine> inner = new ArrayList<>();
    int extra = index.size() - shape.rank();
    for (int axis = 0; axis < shape.rank(); axis++) {
      inner.add(shape.dim(axis).is(1) ? zero() : index.get(axis + extra));
    }
    return inner;
  }

  private Affine zero() {
    return Affine.constant(Dim.ZERO, extents.size());
  }

  private Meaning movement(Movement op, Node node, List<Affine> index) {
    Value first = graph.operand(node, 0);
    Shape shape = first.type().shape();
    return switch (op) {
      case Movement.Reshape(Shape to) -> {
        Optional<List<Affine>> moved = Unflattening.index(to, shape, index, extents);
        yield moved.isPresent()
            ? at(first, moved.get())
            : new Meaning.Unknown("a reshape from " + shape + " to " + to);
      }
      case Movement.Transpose(List<Integer> permutation) -> {
        List<Affine> moved = new ArrayList<>(index);
        for (int axis = 0; axis < index.size(); axis++) {
          moved.set(permutation.get(axis), index.get(axis));
        }
        yield at(first, moved);
      }
      case Movement.Broadcast broadcast -> at(first, expanded(shape, index));
      case Movement.Slice slice -> {
        List<Affine> moved = new ArrayList<>();
        for (int axis = 0; axis < index.size(); axis++) {
          Dim step = Dim.of(slice.steps().get(axis));
          moved.add(index.get(axis).times(step).plus(slice.starts().get(axis)));
        }
        yield at(first, moved);
      }
      case Movement.Concat(int axis) -> concat(node, axis, index);
      case Movement.Gather(int axis) -> gather(node, axis, index);
      case Movement.GatherNd(int batchDims) when batchDims == 0 -> gatherNd(node, index);
      case Movement other -> new Meaning.Lookup(node.results().getFirst(), index);
    };
  }

  private Meaning gather(Node node, int axis, List<Affine> index) {
    int count = graph.operand(node, 1).type().rank();
    Meaning place = operand(node, 1, index.subList(axis, axis + count));
    Dim extent = graph.operand(node, 0).type().shape().dim(axis);
    Optional<Affine> inside = logic.place(place, extent);
    if (inside.isEmpty()) {
      return new Meaning.Lookup(node.result(), index);
    }
    List<Affine> moved = new ArrayList<>(index.subList(0, axis));
    moved.add(inside.get());
    moved.addAll(index.subList(axis + count, index.size()));
    return operand(node, 0, moved);
  }

  private Meaning gatherNd(Node node, List<Affine> index) {
    Shape indices = graph.operand(node, 1).type().shape();
    Shape data = graph.operand(node, 0).type().shape();
    int outer = indices.rank() - 1;
    List<Affine> moved = new ArrayList<>();
    for (int i = 0; i < indices.extent(outer); i++) {
      List<Affine> at = new ArrayList<>(index.subList(0, outer));
      at.add(Affine.constant(Dim.of(i), extents.size()));
      Optional<Affine> inside = logic.place(operand(node, 1, at), data.dim(i));
      if (inside.isEmpty()) {
        return new Meaning.Lookup(node.result(), index);
      }
      moved.add(inside.get());
    }
    moved.addAll(index.subList(outer, index.size()));
    return operand(node, 0, moved);
  }

  /** Returns the formula of the part that contains the index, or the one that all parts share. */
  private Meaning concat(Node node, int axis, List<Affine> index) {
    Affine along = index.get(axis);
    Dim start = Dim.ZERO;
    for (int i = 0; i < node.operands().size(); i++) {
      Dim end = start.plus(graph.operand(node, i).type().dim(axis));
      if (logic.isAtLeast(along, start) && logic.isBelow(along, end)) {
        return operand(node, i, within(index, axis, start));
      }
      start = end;
    }
    return node.operands().size() == 2
        ? continued(node, axis, index)
        : new Meaning.Unknown("a concatenation");
  }

  private static List<Affine> within(List<Affine> index, int axis, Dim start) {
    List<Affine> moved = new ArrayList<>(index);
    moved.set(axis, index.get(axis).plus(start.times(Dim.of(-1))));
    return moved;
  }

  /** Merges a single element with those that follow, if their formula also gives its value. */
  private Meaning continued(Node node, int axis, List<Affine> index) {
    Dim size = graph.operand(node, 0).type().dim(axis);
    Affine along = index.get(axis);
    Optional<Integer> variable = along.onlyIndex();
    Meaning first = operand(node, 0, within(index, axis, Dim.ZERO));
    Meaning rest = operand(node, 1, within(index, axis, size));
    if (size.is(1)
        && variable.isPresent()
        && along.coefficients().get(variable.get()).is(1)
        && first instanceof Affine single
        && rest instanceof Affine formula) {
      Dim place = along.constant().times(Dim.of(-1));
      if (single.at(variable.get(), place).equals(formula.at(variable.get(), place))) {
        return rest;
      }
    }
    return first.equals(rest) && !(first instanceof Meaning.Lookup)
        ? first
        : new Meaning.Unknown("a concatenation");
  }
}
