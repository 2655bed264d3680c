package io.partita.backend.java.code;

import io.partita.backend.java.plan.Step;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A loop nest that computes an element-wise node and those fused into it. */
final class ElementwiseCode {
  private final StepCode code;
  private final Set<Node> fused = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<Value> leaves = new ArrayList<>();
  private final Map<Value, Integer> leafIndex = new IdentityHashMap<>();

  private ElementwiseCode(StepCode code, Step step) {
    this.code = code;
    fused.addAll(step.fused());
    List<Node> parts = new ArrayList<>(step.fused());
    parts.add(step.node());
    for (Node part : parts) {
      for (Value operand : part.operands()) {
        boolean isLeaf = operand.definition() == null || !fused.contains(operand.definition());
        if (isLeaf && leafIndex.putIfAbsent(operand, leaves.size()) == null) {
          leaves.add(operand);
        }
      }
    }
  }

  static void emit(StepCode code, Step step) {
    new ElementwiseCode(code, step).emit();
  }

  private void emit() {
    Shape shape = code.resultType().shape();
    List<LoopNest.Access> accesses = new ArrayList<>();
    accesses.add(access(shape, shape.rank()));
    leaves.forEach(leaf -> accesses.add(access(leaf.type().shape(), shape.rank())));
    LoopNest nest = LoopNest.of(shape.extents(), accesses);
    if (nest.isEmpty()) {
      return;
    }
    nest.open(code.body, "i");
    Term value = apply(code.node, nest);
    String stored = Elements.store(code.kernels, code.resultType().element(), value);
    code.body.line(code.result() + "[" + nest.index(0, "i") + "] = " + stored);
    code.body.close(nest.depth());
  }

  /** The access to an operand that is broadcast to {@code rank} dimensions. */
  static LoopNest.Access access(Shape shape, int rank) {
    return new LoopNest.Access(0, broadcastStrides(shape, rank));
  }

  static List<Long> broadcastStrides(Shape shape, int rank) {
    long[] own = shape.strides();
    List<Long> strides = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      int at = axis - (rank - own.length);
      strides.add(at < 0 || shape.extent(at) == 1 ? 0 : own[at]);
    }
    return strides;
  }

  private Term operand(Value value, LoopNest nest) {
    if (leafIndex.containsKey(value)) {
      return code.load(value, nest.index(leafIndex.get(value) + 1, "i"));
    }
    return Elements.rounded(code.kernels, value.type().element(), apply(value.definition(), nest));
  }

  /** The value of a node at the current index; chains are short, so the recursion is shallow. */
  private Term apply(Node node, LoopNest nest) {
    List<Term> terms = node.operands().stream().map(operand -> operand(operand, nest)).toList();
    ElementType element = node.operand(0).type().element();
    String carrier = Elements.carrier(node.result().type().element());
    return switch ((Elementwise) node.op()) {
      case Elementwise.Unary(var function) -> {
        String text = code.expressions.unary(function, element, terms.get(0).text());
        yield text.equals(terms.get(0).text()) ? terms.get(0) : new Term(text, carrier);
      }
      case Elementwise.Binary(var function) -> {
        ElementType other = node.operand(1).type().element();
        String x = terms.get(0).text();
        String y = terms.get(1).text();
        yield new Term(
            function == BinaryFunction.POW
                ? code.expressions.power(element, other, x, y)
                : code.expressions.binary(function, element, x, y),
            carrier);
      }
      case Elementwise.Select select -> {
        boolean same = terms.get(1).type().equals(terms.get(2).type());
        yield new Term(
            "("
                + terms.get(0).text()
                + " ? "
                + terms.get(1).text()
                + " : "
                + terms.get(2).text()
                + ")",
            same ? terms.get(1).type() : carrier);
      }
      case Elementwise.Cast(var to) -> code.expressions.cast(element, to, terms.get(0));
    };
  }
}
