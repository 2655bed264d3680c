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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A loop nest that computes an element-wise node and those fused into it. Long loops become methods
 * that equal steps of all blocks share, so that the JIT compiler sees them often and compiles them
 * once.
 */
final class ElementwiseCode {
  /** The fewest elements of a loop with its own method. */
  static final int SHARED = 1 << 12;

  private static final int LONGEST_NAME = 24;

  private final StepCode code;
  private final Step step;
  private final Set<Node> fused = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<Value> leaves = new ArrayList<>();
  private final Map<Value, Integer> leafIndex = new IdentityHashMap<>();

  /** The parameters of the loop's own method, by the operand that they take. */
  private final Map<Value, String> parameters = new IdentityHashMap<>();

  private ElementwiseCode(StepCode code, Step step) {
    this.code = code;
    this.step = step;
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
    if (shape.elements() >= SHARED) {
      emitShared(nest);
      return;
    }
    nest.open(code.body, "i");
    code.body.line(assignment(code.result(), nest));
    code.body.close(nest.depth());
  }

  private String assignment(String result, LoopNest nest) {
    Term value = apply(code.node, nest);
    String stored = Elements.store(code.kernels, code.resultType().element(), value);
    return result + "[" + nest.index(0, "i") + "] = " + stored;
  }

  private void emitShared(LoopNest nest) {
    List<String> declared = new ArrayList<>();
    List<String> arguments = new ArrayList<>();
    for (Value leaf : leaves) {
      if (code.plan.literal(leaf) == null) {
        String parameter = "x" + parameters.size();
        parameters.put(leaf, parameter);
        declared.add(Elements.primitive(leaf.type().element()) + "[] " + parameter);
        arguments.add(code.array(leaf));
      }
    }
    declared.add(Elements.primitive(code.resultType().element()) + "[] y");
    arguments.add(code.result());
    String method =
        code.kernels.useLoop(
            methodName(),
            functions(", "),
            String.join(", ", declared),
            nest.around(assignment("y", nest), "i"));
    code.body.line(method + "(" + String.join(", ", arguments) + ")");
  }

  /** Such as {@code eachMulRoundCast}; repeated functions are named once. */
  private String methodName() {
    StringBuilder name = new StringBuilder("each");
    for (String function : functions(" ").split("[ _]")) {
      String word = Character.toUpperCase(function.charAt(0)) + function.substring(1);
      if (name.length() < LONGEST_NAME && !name.toString().endsWith(word)) {
        name.append(word);
      }
    }
    return name.toString();
  }

  /** The functions of a loop, in the order of computation. */
  private String functions(String separator) {
    return Stream.concat(step.fused().stream(), Stream.of(step.node()))
        .map(node -> node.op().mnemonic())
        .collect(Collectors.joining(separator));
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
      String index = nest.index(leafIndex.get(value) + 1, "i");
      String parameter = parameters.get(value);
      return parameter == null
          ? code.load(value, index)
          : Elements.loadTerm(code.kernels, value.type().element(), parameter, index);
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
        Optional<Term> simpler =
            code.expressions
                .inFloat(function, element, terms.get(0), terms.get(1))
                .or(
                    () ->
                        code.expressions.shift(
                            function, element, terms.get(0), code.plan.literal(node.operand(1))));
        yield simpler.orElseGet(
            () ->
                new Term(
                    function == BinaryFunction.POW
                        ? code.expressions.power(element, other, x, y)
                        : code.expressions.binary(function, element, x, y),
                    carrier));
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
