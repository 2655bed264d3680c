package io.partita.passes.graph.raise.integer;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * {@code quantize(f(dequantize(x))) -> lookup(x, table)} for bytes and any elementwise function f
 * of x alone, in any number of nodes, with lookups and quantizations in between. If the table has
 * each byte itself, the result is x. The reference evaluator computes the table, so the results are
 * those of the nodes, bit for bit.
 */
final class TabulateFunctions implements RewriteRule {
  /** The most nodes of a function. */
  private static final int MAX_NODES = 32;

  @Override
  public Class<? extends Op> root() {
    return Quantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Quantize.class, op -> isByte(op.to()));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return new Tabulation(graph, node.result().type().shape())
        .of(node)
        .map(function -> function.value(graph));
  }

  private static boolean isByte(ElementType element) {
    return element == ElementType.I8 || element == ElementType.U8;
  }

  /** Returns all numbers of a type, in order. */
  private static Tensor bytes(ElementType element) {
    long[] all = LongStream.rangeClosed(element.minimum(), element.maximum()).toArray();
    return Tensor.ofLongs(TensorType.of(element, Lookup.ENTRIES), all);
  }

  /**
   * A function of bytes.
   *
   * @param results its result for each byte, in order
   */
  private record Function(Value argument, Tensor results) {
    static Function identity(Value argument) {
      return new Function(argument, bytes(argument.type().element()));
    }

    Value value(GraphEditor graph) {
      return equals(identity(argument))
          ? argument
          : graph.add(new Lookup(), argument, graph.constant(results));
    }
  }

  /**
   * The nodes above a quantization as functions of the first bytes that they can be computed from.
   */
  private static final class Tabulation {
    private final GraphEditor graph;
    private final Shape shape;
    private final Map<Node, Optional<Function>> known = new IdentityHashMap<>();

    /**
     * @param shape the shape of the bytes and of all values that are computed from them
     */
    Tabulation(GraphEditor graph, Shape shape) {
      this.graph = graph;
      this.shape = shape;
    }

    /** Returns empty if a node isn't a function of one argument. */
    Optional<Function> of(Node node) {
      Optional<Function> found = known.get(node);
      if (found == null) {
        found = known.size() < MAX_NODES ? computed(node) : Optional.empty();
        known.put(node, found);
      }
      return found;
    }

    private Optional<Function> computed(Node node) {
      boolean isElementwise =
          switch (node.op()) {
            case Quantized op -> graph.constant(graph.operand(node, 1)).isPresent();
            case Elementwise op -> true;
            case Lookup op -> true;
            case Op other -> false;
          };
      if (!isElementwise || !node.result().type().shape().equals(shape)) {
        return Optional.empty();
      }
      Value argument = null;
      List<Tensor> operands = new ArrayList<>();
      for (int i = 0; i < node.operands().size(); i++) {
        Value operand = graph.operand(node, i);
        Optional<Tensor> constant = graph.constant(operand);
        if (constant.isPresent()) {
          boolean isTable = node.op() instanceof Lookup && i == 1;
          operands.add(isTable ? constant.get() : scalar(constant.get()));
        } else {
          Function function = of(operand).orElse(null);
          if (function == null || argument != null && argument != function.argument) {
            return Optional.empty();
          }
          argument = function.argument;
          operands.add(function.results);
        }
      }
      return argument == null || operands.contains(null)
          ? Optional.empty()
          : Optional.of(
              new Function(argument, OpEvaluator.evaluate(node.op(), operands).getFirst()));
    }

    private Optional<Function> of(Value value) {
      return graph
          .definition(value)
          .flatMap(this::of)
          .or(
              () ->
                  isByte(value.type().element()) && value.type().shape().equals(shape)
                      ? Optional.of(Function.identity(value))
                      : Optional.empty());
    }

    /** Returns a constant that is the same for all elements, or null. */
    private static Tensor scalar(Tensor constant) {
      return constant.size() == 1 ? constant.reshaped(Shape.SCALAR) : null;
    }
  }
}
