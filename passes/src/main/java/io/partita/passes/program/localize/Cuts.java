package io.partita.passes.program.localize;

import io.partita.ir.factor.Factor;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorRules;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Operations that can be computed in parts along a dimension of their result. */
final class Cuts {
  /** Elements of a dimension, {@code to} exclusive. */
  record Range(int dim, long from, long to) {
    Range along(int other) {
      return new Range(other, from, to);
    }

    Box of(TensorType type) {
      return Box.of(type).with(dim, from, to);
    }

    Movement.Slice slice(TensorType type) {
      Box box = of(type);
      List<Dim> starts = box.from().stream().map(Dim::of).toList();
      List<Long> steps = Collections.nCopies(box.rank(), 1L);
      return new Movement.Slice(starts, box.shape().dims(), steps);
    }
  }

  private Cuts() {}

  static boolean isProduct(Node node) {
    return switch (node.op()) {
      case Structured.Linear linear -> true;
      case Structured.Ffn ffn -> true;
      case Contraction.MatMul product -> true;
      case Contraction.NibbleMatMul product -> true;
      case Contraction.Einsum einsum -> true;
      case Op other -> false;
    };
  }

  static boolean isElementwise(Node node) {
    return node.op() instanceof Elementwise
        || node.op() instanceof IntegerNetwork integer && integer.isElementwise();
  }

  /**
   * Returns the dimension of each operand that is divided with a dimension of the result, or -1;
   * null if the operation can't be computed in such parts.
   */
  static List<Integer> of(Node node, int dim) {
    if (!(isProduct(node) || isElementwise(node))) {
      return null;
    }
    FactorRule rule = FactorRules.of(node.op(), node.operands().stream().map(Value::type).toList());
    List<Integer> factors = rule.results().getFirst().get(dim);
    if (factors.size() != 1
        || rule.factors().get(factors.getFirst()).use() != Factor.Use.PARALLEL) {
      return null;
    }
    List<Integer> cuts = new ArrayList<>();
    for (List<List<Integer>> dims : rule.operands()) {
      boolean isMixed = dims.stream().anyMatch(d -> d.size() > 1 && d.contains(factors.getFirst()));
      if (isMixed) {
        return null;
      }
      cuts.add(dims.indexOf(factors));
    }
    return cuts;
  }
}
