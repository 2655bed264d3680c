package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the linears of a graph, 1×1 convolutions, and linears with ONNX Runtime's dynamic
 * quantisation: {@code cast(matmul(quantize(x), weight) - zero points) * scale (+ bias)}.
 */
final class Projections {
  private static final int MAX_STEPS = 24;

  private final Flow flow;
  private final List<Projection> all = new ArrayList<>();
  private final Set<Node> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Map<Value, Projection> byResult = new IdentityHashMap<>();
  private final Map<Value, List<Projection>> byInput = new IdentityHashMap<>();

  Projections(Graph graph, Flow flow) {
    this.flow = flow;
    for (Node node : graph.nodes()) {
      of(node)
          .ifPresent(
              projection -> {
                all.add(projection);
                nodes.add(node);
                byResult.put(projection.result(), projection);
                byInput
                    .computeIfAbsent(projection.input(), input -> new ArrayList<>())
                    .add(projection);
              });
    }
  }

  private Optional<Projection> of(Node node) {
    return switch (node.op()) {
      case Structured.Linear linear ->
          Optional.of(new Projection(node, node.operand(0), node.result(), false));
      case Contraction.MatMul(ElementType element)
          when element.isFloat()
              && node.operand(1).type().rank() > 2
              && flow.isParameter(node.operand(1))
              && !flow.isParameter(node.operand(0)) ->
          Optional.of(new Projection(node, node.operand(0), node.result(), false));
      case Contraction.Convolution convolution when isPixelwise(convolution, node) ->
          Optional.of(
              new Projection(
                  node,
                  node.operand(0),
                  convolution.bias() ? node.result() : withBias(node.result(), 1),
                  false));
      case Contraction.MatMul(ElementType element)
          when element.isInteger()
              && flow.isParameter(node.operand(1))
              && !flow.isParameter(node.operand(0)) ->
          unquantized(node.operand(0))
              .flatMap(
                  input ->
                      rescaled(node.result())
                          .map(result -> new Projection(node, input, withBias(result), true)));
      case Contraction.NibbleMatMul product
          when flow.isParameter(node.operand(1)) && !flow.isParameter(node.operand(0)) ->
          unquantized(node.operand(0))
              .map(input -> new Projection(node, input, withBias(scaled(node.result())), true));
      case Op other -> Optional.empty();
    };
  }

  /**
   * Returns the sums without columns that fill a panel, multiplied by the scale of the input: that
   * of queries and keys may have become a part of the attention's.
   */
  private Value scaled(Value sums) {
    List<Node> readers = flow.readers(sums);
    boolean isSliced = readers.size() == 1 && readers.getFirst().op() instanceof Movement.Slice;
    Value columns = isSliced ? readers.getFirst().result() : sums;
    return rescaled(columns).orElse(columns);
  }

  /** Whether the channels of each pixel, or groups of them, are multiplied by a matrix. */
  private boolean isPixelwise(Contraction.Convolution convolution, Node node) {
    Window window = convolution.window();
    return convolution.result().isFloat()
        && window.kernel().stream().allMatch(extent -> extent == 1)
        && window.strides().stream().allMatch(stride -> stride == 1)
        && node.result()
            .type()
            .shape()
            .range(2, node.result().type().rank())
            .equals(node.operand(0).type().shape().range(2, node.result().type().rank()))
        && !node.operand(1).type().dim(1).is(1)
        && flow.isParameter(node.operand(1));
  }

  /** Returns all projections in order. */
  List<Projection> all() {
    return all;
  }

  boolean isProjection(Node node) {
    return nodes.contains(node);
  }

  /** Returns the projection that computes the value. */
  Optional<Projection> giving(Value value) {
    return Optional.ofNullable(byResult.get(value));
  }

  /**
   * Finds the output projection of an attention, possibly after a norm or a gate, or in parallel
   * with a convolution.
   */
  Optional<Projection> below(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS; step++) {
      List<Projection> found = byInput.getOrDefault(at, List.of());
      if (!found.isEmpty()) {
        return found.size() == 1 ? Optional.of(found.getFirst()) : Optional.empty();
      }
      List<Node> next = flow.readers(at);
      if (next.size() != 1 || !isCarried(next.getFirst())) {
        return Optional.empty();
      }
      at = next.getFirst().results().getFirst();
    }
    return Optional.empty();
  }

  private static boolean isCarried(Node node) {
    return Flow.isPassing(node.op())
        || node.op() instanceof Movement.Concat
        || node.op() instanceof Structured.Norm
        || is(node, BinaryFunction.MUL)
        || node.op() instanceof Elementwise.Unary;
  }

  /**
   * Returns the floats from which a matrix of integers is quantised, possibly with its zero point
   * subtracted, or the bytes that a table gives.
   */
  private static Optional<Value> unquantized(Value integers) {
    Value at = integers;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      switch (node.op()) {
        case Quantized.Quantize quantize -> {
          Value x = node.operand(0);
          return x.type().element().isFloat() ? Optional.of(x) : Optional.empty();
        }
        case IntegerNetwork.Lookup lookup -> {
          return Optional.of(node.result());
        }
        case Elementwise.Cast cast -> at = node.operand(0);
        case Movement.Reshape reshape -> at = node.operand(0);
        case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.SUB ->
            at = node.operand(0);
        case Op other -> {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Finds the integer sums converted to floats and scaled, or requantized, after corrections for
   * zero points.
   */
  private Optional<Value> rescaled(Value sums) {
    Value at = sums;
    for (int step = 0; step < MAX_STEPS; step++) {
      List<Node> readers = flow.readers(at);
      if (readers.size() != 1) {
        return Optional.empty();
      }
      Node node = readers.getFirst();
      if (node.op() instanceof IntegerNetwork.Requantize && node.operand(0) == at) {
        return Optional.of(node.result());
      }
      boolean isKept = node.results().getFirst().type().shape().equals(at.type().shape());
      boolean isCorrected =
          isKept
              && (at.type().element().isInteger() || flow.isParameter(other(node, at)))
              && (is(node, BinaryFunction.SUB) || is(node, BinaryFunction.ADD));
      if (is(node, BinaryFunction.MUL) && at.type().element().isFloat()) {
        return isKept && isPerFeature(other(node, at), 1)
            ? Optional.of(node.result())
            : Optional.empty();
      }
      if (!(node.op() instanceof Elementwise.Cast)
          && !(isCorrected && (node.operand(0) == at || is(node, BinaryFunction.ADD)))) {
        return Optional.empty();
      }
      at = node.result();
    }
    return Optional.empty();
  }

  /** Returns the value, or its sum with a trained vector if that is its only use. */
  Value withBias(Value value) {
    return withBias(value, value.type().rank() - 1);
  }

  private Value withBias(Value value, int axis) {
    List<Node> readers = flow.readers(value);
    return readers.size() == 1 && isBias(readers.getFirst(), value, axis)
        ? readers.getFirst().result()
        : value;
  }

  private boolean isBias(Node node, Value value, int axis) {
    return is(node, BinaryFunction.ADD)
        && flow.isParameter(other(node, value))
        && isPerFeature(other(node, value), value.type().rank() - axis)
        && node.result().type().equals(value.type());
  }

  private static boolean is(Node node, BinaryFunction function) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction found) && found == function;
  }

  private static Value other(Node node, Value value) {
    return node.operand(0) == value ? node.operand(1) : node.operand(0);
  }

  /** Whether a value is a scalar or a vector of the features. */
  private static boolean isPerFeature(Value value, int fromEnd) {
    Shape shape = value.type().shape();
    for (int axis = 0; axis < shape.rank(); axis++) {
      if (axis != shape.rank() - fromEnd && !shape.dim(axis).is(1)) {
        return false;
      }
    }
    return true;
  }
}
