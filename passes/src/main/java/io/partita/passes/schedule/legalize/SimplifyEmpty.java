package io.partita.passes.schedule.legalize;

import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code x[2,0] · w[0,3] + b -> b}, {@code pad(nothing, fill) -> fill}, {@code scatter(data,
 * nothing) -> data}: simplifies operations with empty operands, for which kernels would need an
 * address.
 */
final class SimplifyEmpty implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.someOperand(SimplifyEmpty::isEmpty);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Value> operands = graph.operands(node);
    if (node.results().size() != 1 || isEmpty(node.result())) {
      return Optional.empty();
    }
    TensorType type = node.result().type();
    Terms terms = new Terms(graph);
    return switch (node.op()) {
      case Contraction.MatMul product -> Optional.of(zeros(terms, type));
      case Contraction.Einsum einsum -> Optional.of(zeros(terms, type));
      case Structured.Linear linear ->
          Optional.of(linear.bias() ? bias(terms, operands.get(2), 0, type) : zeros(terms, type));
      case Contraction.Convolution convolution -> {
        int spatial = type.rank() - 2;
        yield Optional.of(
            convolution.bias() ? bias(terms, operands.get(2), spatial, type) : zeros(terms, type));
      }
      case Structured.Attention attention -> attention(terms, attention, operands, type);
      case Movement.Pad pad when pad.mode() == Movement.PadMode.CONSTANT ->
          Optional.of(terms.broadcast(operands.get(1), type.shape()));
      case Movement.ScatterElements scatter -> Optional.of(operands.getFirst());
      case Movement.ScatterNd scatter -> scatter(terms, scatter.reduction(), operands);
      case Movement.GatherNd(var batch) ->
          Optional.of(gather(terms, batch, operands.get(0), operands.get(1), type.shape()));
      case Op other -> Optional.empty();
    };
  }

  private static boolean isEmpty(Value value) {
    return value.type().shape().elements() == 0;
  }

  private static Value zeros(Terms terms, TensorType type) {
    Value zero = terms.graph().constant(Tensor.filled(TensorType.scalar(type.element()), 0));
    return terms.broadcast(zero, type.shape());
  }

  /**
   * @param inner the number of dimensions of the result after that of the bias
   */
  private static Value bias(Terms terms, Value bias, int inner, TensorType type) {
    Shape shape = bias.type().shape();
    for (int i = 0; i < inner; i++) {
      shape = shape.concat(Shape.of(1));
    }
    Value wide = terms.cast(terms.reshaped(bias, shape), type.element());
    return terms.broadcast(wide, type.shape());
  }

  /** No keys give zeros; queries and keys without features have scores of 0. */
  private static Optional<Value> attention(
      Terms terms, Structured.Attention attention, List<Value> operands, TensorType type) {
    TensorType query = operands.get(0).type();
    TensorType key = operands.get(1).type();
    if (key.shape().extent(2) == 0) {
      return Optional.of(zeros(terms, type));
    }
    List<Value> changed = new ArrayList<>(operands);
    changed.set(0, zeros(terms, query.with(query.shape().with(3, Dim.ONE))));
    changed.set(1, zeros(terms, key.with(key.shape().with(3, Dim.ONE))));
    return Optional.of(terms.graph().add(attention, changed));
  }

  /** Handles scatters without indices, or whose updates replace all data one after the other. */
  private static Optional<Value> scatter(Terms terms, Combine reduction, List<Value> operands) {
    Value data = operands.get(0);
    Value updates = operands.get(2);
    if (isEmpty(updates)) {
      return Optional.of(data);
    }
    Shape shape = data.type().shape();
    long count = updates.type().shape().elements() / shape.elements();
    Value all = terms.reshaped(updates, Shape.of(count).concat(shape));
    return reduction
        .reduction()
        .map(kind -> joined(terms, data, all, kind))
        .orElseGet(() -> Optional.of(terms.reshaped(terms.slice(all, 0, count - 1, 1), shape)));
  }

  private static Optional<Value> joined(
      Terms terms, Value data, Value updates, ReductionKind kind) {
    if (data.type().element() == ElementType.BOOL) {
      return Optional.empty();
    }
    Value one = terms.graph().add(new Reduction.Reduce(kind, List.of(0), false), updates);
    return Optional.of(terms.binary(kind.function(), data, one));
  }

  /** Empty index tuples select all data of their batch element. */
  private static Value gather(Terms terms, int batch, Value data, Value indices, Shape result) {
    Shape shape = data.type().shape();
    Shape ones = new Shape(List.of());
    for (int i = batch; i < indices.type().rank() - 1; i++) {
      ones = ones.concat(Shape.of(1));
    }
    Shape spread = shape.range(0, batch).concat(ones).concat(shape.range(batch, shape.rank()));
    return terms.broadcast(terms.reshaped(data, spread), result);
  }
}
