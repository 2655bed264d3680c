package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.linear.FfnOperands;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds feed-forward networks that no rule raises to one operation, because their linears are 1×1
 * convolutions, or because there is more than an activation between their linears: quantisation,
 * norms, batch norms or depthwise convolutions.
 */
final class UnraisedFfns {
  private static final int MAX_STEPS = 24;

  private final Flow flow;
  private final Projections projections;

  UnraisedFfns(Flow flow, Projections projections) {
    this.flow = flow;
    this.projections = projections;
  }

  /**
   * The products of the inner features.
   *
   * @param activation the function; empty if it is a table or several operations
   * @param up the product whose result the function is applied to
   * @param gated the product whose result is multiplied with that, if any
   */
  private record Hidden(
      Optional<UnaryFunction> activation, Projection up, Optional<Projection> gated) {
    List<Node> products() {
      return Stream.concat(Stream.of(up), gated.stream()).map(Projection::node).distinct().toList();
    }
  }

  /**
   * A network and its input.
   *
   * @param input the features before its first linear
   */
  record Found(Block.FfnPart part, Value input) {}

  /**
   * Finds the network that ends with this projection and has equal numbers of input and output
   * features.
   */
  Optional<Found> endingWith(Projection down) {
    Value hidden = unshaped(down.input());
    Node product = hidden.definition();
    if (product == null) {
      return Optional.empty();
    }
    Optional<Hidden> gated =
        isGate(product)
            ? gate(product.operand(0), product.operand(1))
                .or(() -> gate(product.operand(1), product.operand(0)))
            : Optional.empty();
    return gated
        .or(() -> activated(hidden))
        .or(() -> mixed(hidden))
        .filter(found -> found.up().inputFeatures().equals(down.features()))
        .map(
            found ->
                new Found(
                    new Block.FfnPart(
                        down.node(),
                        found.products(),
                        found.gated().isPresent(),
                        found.activation(),
                        down.inputFeatures(),
                        down.quantized()),
                    found.up().input()));
  }

  private boolean isGate(Node node) {
    return node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.MUL
        && !flow.isParameter(node.operand(0))
        && !flow.isParameter(node.operand(1))
        && node.operand(0) != node.operand(1);
  }

  private Optional<Hidden> gate(Value activated, Value up) {
    return linear(up)
        .flatMap(
            other ->
                activated(activated)
                    .map(found -> new Hidden(found.activation(), found.up(), Optional.of(other))));
  }

  /** Finds the projection that the value comes from, through operations that may lie between. */
  private Optional<Hidden> activated(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      boolean isTable = node.op() instanceof IntegerNetwork.Lookup;
      Optional<UnaryFunction> activation =
          node.op() instanceof Elementwise.Unary(var function) && FfnOperands.isActivation(function)
              ? Optional.of(function)
              : Optional.empty();
      if (isTable || activation.isPresent()) {
        return linear(node.operand(0)).map(up -> new Hidden(activation, up, Optional.empty()));
      }
      Value next = before(node);
      if (next == null || projections.giving(at).isPresent()) {
        return Optional.empty();
      }
      at = next;
    }
    return Optional.empty();
  }

  /**
   * Finds the one or two projections from which the value is computed featurewise in any other way,
   * such as by Mish, squared rectifiers or a product of two linears.
   */
  private Optional<Hidden> mixed(Value value) {
    Set<Projection> found = new LinkedHashSet<>();
    boolean isNonlinear = false;
    Deque<Value> work = new ArrayDeque<>(List.of(value));
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!work.isEmpty()) {
      Value at = work.removeFirst();
      if (flow.isParameter(at) || !seen.add(at)) {
        continue;
      }
      Optional<Projection> projection = projections.giving(at);
      Node node = at.definition();
      if (projection.isPresent()) {
        found.add(projection.get());
      } else if (node != null && seen.size() <= MAX_STEPS && isFeaturewise(node.op())) {
        isNonlinear |= isNonlinear(node);
        work.addAll(node.operands());
      } else {
        return Optional.empty();
      }
    }
    if (!isNonlinear || found.isEmpty() || found.size() > 2) {
      return Optional.empty();
    }
    Iterator<Projection> projections = found.iterator();
    Projection up = projections.next();
    return Optional.of(
        new Hidden(
            Optional.empty(),
            up,
            projections.hasNext() ? Optional.of(projections.next()) : Optional.empty()));
  }

  private static boolean isFeaturewise(Op op) {
    return op instanceof Elementwise || op instanceof Structured.Norm || Flow.isPassing(op);
  }

  /** Whether more than a tanh, which ends poolers, or a product with weights is computed. */
  private boolean isNonlinear(Node node) {
    return switch (node.op()) {
      case Elementwise.Unary(UnaryFunction function) ->
          function != UnaryFunction.TANH && function != UnaryFunction.NEG;
      case Elementwise.Binary(BinaryFunction function) ->
          (function == BinaryFunction.MUL || function == BinaryFunction.POW)
              && !flow.isParameter(node.operand(0))
              && (function == BinaryFunction.POW || !flow.isParameter(node.operand(1)));
      case Op other -> false;
    };
  }

  private Optional<Projection> linear(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS; step++) {
      Optional<Projection> found = projections.giving(at);
      Value next = at.definition() == null ? null : before(at.definition());
      if (found.isPresent() || next == null) {
        return found;
      }
      at = next;
    }
    return Optional.empty();
  }

  private Value unshaped(Value value) {
    Value at = value;
    while (at.definition() != null && Flow.isPassing(at.definition().op())) {
      at = at.definition().operand(0);
    }
    return at;
  }

  /** Returns the operand that is changed featurewise or within each feature, or null. */
  private Value before(Node node) {
    return switch (node.op()) {
      case Structured.Norm norm -> node.operand(0);
      case Contraction.Convolution convolution ->
          node.operand(1).type().dim(1).is(1) ? node.operand(0) : null;
      case Elementwise.Binary binary -> {
        if (node.operand(0) == node.operand(1) || flow.isParameter(node.operand(1))) {
          yield node.operand(0);
        }
        yield flow.isParameter(node.operand(0)) ? node.operand(1) : null;
      }
      case Op op when Flow.isPassing(op) -> node.operand(0);
      case Op other -> null;
    };
  }
}
