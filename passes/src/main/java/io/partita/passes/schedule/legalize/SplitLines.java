package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code softmax(x) -> e / sum(e)} with {@code e = exp(x - max(x))}, and norms into their
 * definition, if lines don't fit the working memory.
 */
final class SplitLines implements RewriteRule {
  private final LongLines lines;

  SplitLines(LongLines lines) {
    this.lines = lines;
  }

  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.either(
        Pattern.result(Reduction.Softmax.class, softmax -> true),
        Pattern.result(Structured.Norm.class, norm -> true));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Terms terms = new Terms(graph);
    return switch (node.op()) {
      case Reduction.Softmax softmax -> softmax(terms, softmax, graph.operand(node, 0));
      case Structured.Norm norm -> norm(terms, norm, graph.operands(node));
      case Op other -> Optional.empty();
    };
  }

  private Optional<Value> softmax(Terms terms, Reduction.Softmax softmax, Value x) {
    Shape shape = x.type().shape();
    long each = 2 * LongLines.bytes(x.type().element());
    boolean fits =
        shape.elements() == 0
            || lines.part(shape, softmax.axis(), each) == shape.extent(softmax.axis());
    if (fits) {
      return Optional.empty();
    }
    List<Integer> axis = List.of(softmax.axis());
    Value top = reduced(terms, ReductionKind.MAX, axis, x);
    Value below = terms.binary(BinaryFunction.SUB, x, top);
    Value exponential = terms.unary(UnaryFunction.EXP, below);
    Value sum = reduced(terms, ReductionKind.SUM, axis, exponential);
    return Optional.of(
        softmax.logarithm()
            ? terms.binary(BinaryFunction.SUB, below, terms.unary(UnaryFunction.LOG, sum))
            : terms.binary(BinaryFunction.DIV, exponential, sum));
  }

  private Optional<Value> norm(Terms terms, Structured.Norm norm, List<Value> operands) {
    Value x = operands.getFirst();
    Shape shape = x.type().shape();
    List<Integer> axes = IntStream.range(norm.axis(), shape.rank()).boxed().toList();
    // Scale and bias of the same length are in the working memory too.
    long each = (1 + operands.size()) * LongLines.bytes(x.type().element());
    boolean fits =
        shape.elements() == 0
            || lines.part(shape, axes, norm.axis(), each) == shape.extent(norm.axis());
    if (fits) {
      return Optional.empty();
    }
    Value centred =
        switch (norm.kind()) {
          case LAYER ->
              terms.binary(BinaryFunction.SUB, x, reduced(terms, ReductionKind.MEAN, axes, x));
          case RMS -> x;
        };
    Value square = terms.binary(BinaryFunction.MUL, centred, centred);
    Value mean = reduced(terms, ReductionKind.MEAN, axes, square);
    Value epsilon = terms.graph().constant(Tensor.scalar(x.type().element(), norm.epsilon()));
    Value root = terms.unary(UnaryFunction.SQRT, terms.binary(BinaryFunction.ADD, mean, epsilon));
    Value result = terms.binary(BinaryFunction.DIV, centred, root);
    int next = 1;
    if (norm.scale()) {
      result = terms.binary(BinaryFunction.MUL, result, operands.get(next++));
    }
    if (norm.bias()) {
      result = terms.binary(BinaryFunction.ADD, result, operands.get(next));
    }
    return Optional.of(result);
  }

  private static Value reduced(Terms terms, ReductionKind kind, List<Integer> axes, Value x) {
    return terms.graph().add(new Reduction.Reduce(kind, axes, true), x);
  }
}
