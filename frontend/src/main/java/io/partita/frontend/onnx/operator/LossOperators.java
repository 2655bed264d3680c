package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;

/** Losses over classes: scores {@code [n, c, …]} against targets {@code [n, …]}. */
final class LossOperators {
  private LossOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("NegativeLogLikelihoodLoss", node -> node.output(0, loss(node, node.input(0))));
    registry.add(
        "SoftmaxCrossEntropyLoss",
        node -> {
          Value logarithms = node.add(new Reduction.Softmax(1, true), node.input(0));
          node.output(0, loss(node, logarithms));
          node.output(1, logarithms);
        });
  }

  /** Returns -w[t] x[n, t, …] for the target t; 0 for ignored targets. */
  private static Value loss(NodeScope node, Value x) {
    Arithmetic of = new Arithmetic(node);
    Value target = of.cast(node.input(1), ElementType.I64);
    Shape shape = target.type().shape();
    Value ignored =
        node.hasAttribute("ignore_index")
            ? of.binary(BinaryFunction.EQUAL, target, node.integer("ignore_index"))
            : null;
    // Ignored targets may be invalid classes, so they are replaced before they are used as indices.
    Value index = ignored == null ? target : of.select(ignored, node.scalarLike(target, 0), target);
    Value columns = of.reshape(index, shape.insert(1, Dim.ONE));
    Value picked = of.reshape(node.add(new Movement.GatherElements(1), x, columns), shape);
    Value weight =
        node.has(2)
            ? node.add(new Movement.Gather(0), node.input(2), index)
            : of.filled(node.scalarLike(x, 1), shape);
    if (ignored != null) {
      weight = of.select(ignored, node.scalarLike(weight, 0), weight);
    }
    Value losses = of.mul(of.unary(UnaryFunction.NEG, picked), weight);
    return switch (node.text("reduction", "mean")) {
      case "none" -> losses;
      case "sum" -> total(of, losses);
      case "mean" -> of.div(total(of, losses), total(of, weight));
      case String other -> throw node.invalid("reduction none, sum or mean", other);
    };
  }

  private static Value total(Arithmetic of, Value x) {
    return of.reduce(ReductionKind.SUM, x, Arithmetic.axes(0, x.type().rank()), false);
  }
}
