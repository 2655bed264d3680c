package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code sum(x) -> sum(concat(sum(x[0:n]), sum(x[n:2n]), …))} of lines that don't fit the working
 * memory; likewise maxima, products, arg max, top k, and cumulative sums, to which the sums of
 * previous parts are added.
 */
final class SplitReduction implements RewriteRule {
  private final LongLines lines;

  SplitReduction(LongLines lines) {
    this.lines = lines;
  }

  @Override
  public Class<? extends Op> root() {
    return Reduction.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Reduction.class, op -> !(op instanceof Reduction.Softmax))
        .and(Pattern.operand(0, Pattern.any().where(x -> x.type().shape().elements() > 0)));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = graph.operand(node, 0);
    Terms terms = new Terms(graph);
    return switch ((Reduction) node.op()) {
      case Reduction.Reduce reduce -> reduce(terms, reduce, x, node.result().type().shape());
      case Reduction.ArgReduce arg -> argReduce(terms, arg, x, node.result().type().shape());
      case Reduction.TopK top -> topK(terms, top, x, node);
      case Reduction.Cumulative cumulative -> cumulative(terms, cumulative, x);
      case Reduction.Softmax softmax -> Optional.empty();
    };
  }

  private record Part(long start, Value value) {}

  private static List<Part> parts(Terms terms, Value x, int axis, long size) {
    List<Part> parts = new ArrayList<>();
    long extent = x.type().shape().extent(axis);
    for (long start = 0; start < extent; start += size) {
      Value value = terms.slice(x, axis, start, Math.min(size, extent - start));
      parts.add(new Part(start, value));
    }
    return parts;
  }

  private Optional<Value> reduce(Terms terms, Reduction.Reduce op, Value x, Shape result) {
    Shape shape = x.type().shape();
    ElementType element = x.type().element();
    if (op.axes().isEmpty()) {
      return Optional.empty();
    }
    int axis =
        Collections.max(op.axes(), java.util.Comparator.comparingLong(each -> shape.extent(each)));
    long size = lines.part(shape, op.axes(), axis, LongLines.bytes(element));
    // Parts of one element would not reduce anything.
    if (size == shape.extent(axis) || size == 1 && op.axes().size() == 1) {
      return Optional.empty();
    }
    if (op.reduction() == ReductionKind.MEAN) {
      return Optional.of(mean(terms, op, x));
    }
    Reduction.Reduce own = new Reduction.Reduce(op.reduction(), op.axes(), true);
    List<Value> joined = new ArrayList<>();
    for (Part part : parts(terms, x, axis, size)) {
      joined.add(terms.graph().add(own, part.value()));
    }
    Reduction.Reduce last = new Reduction.Reduce(op.reduction(), List.of(axis), true);
    return Optional.of(terms.reshaped(terms.graph().add(last, terms.concat(axis, joined)), result));
  }

  /** Integers are summed in 64 bits, as in their kernel. */
  private static Value mean(Terms terms, Reduction.Reduce op, Value x) {
    ElementType element = x.type().element();
    ElementType wide = element.isFloat() || element == ElementType.U64 ? element : ElementType.I64;
    Reduction.Reduce sum = new Reduction.Reduce(ReductionKind.SUM, op.axes(), op.keepDims());
    long count = 1;
    for (int axis : op.axes()) {
      count *= x.type().shape().extent(axis);
    }
    Value sums = terms.graph().add(sum, terms.cast(x, wide));
    return terms.cast(terms.binary(BinaryFunction.DIV, sums, terms.number(sums, count)), element);
  }

  private Optional<Value> argReduce(Terms terms, Reduction.ArgReduce op, Value x, Shape result) {
    long each = LongLines.bytes(x.type().element());
    long size = lines.part(x.type().shape(), op.axis(), each);
    if (size == x.type().shape().extent(op.axis()) || size == 1) {
      return Optional.empty();
    }
    Reduction.ArgReduce own =
        new Reduction.ArgReduce(op.largest(), op.axis(), true, op.selectLast());
    Reduction.Reduce best =
        new Reduction.Reduce(
            op.largest() ? ReductionKind.MAX : ReductionKind.MIN, List.of(op.axis()), true);
    List<Value> values = new ArrayList<>();
    List<Value> places = new ArrayList<>();
    for (Part part : parts(terms, x, op.axis(), size)) {
      values.add(terms.graph().add(best, part.value()));
      places.add(from(terms, terms.graph().add(own, part.value()), part.start()));
    }
    Value chosen = terms.graph().add(own, terms.concat(op.axis(), values));
    Value all = terms.concat(op.axis(), places);
    return Optional.of(
        terms.reshaped(
            terms.graph().add(new Movement.GatherElements(op.axis()), all, chosen), result));
  }

  /** Converts indices in a part to indices in the whole line. */
  private static Value from(Terms terms, Value places, long start) {
    return start == 0
        ? places
        : terms.binary(BinaryFunction.ADD, places, terms.number(places, start));
  }

  private Optional<Value> topK(Terms terms, Reduction.TopK op, Value x, Node node) {
    long extent = x.type().shape().extent(op.axis());
    long most = op.k().value();
    long each = LongLines.bytes(x.type().element());
    // Values and indices of the chosen elements are in the working memory too.
    long size = lines.part(x.type().shape(), op.axis(), each + (most == extent ? each + 8 : 0));
    if (size == extent || size < 2 * most) {
      return Optional.empty();
    }
    List<Value> values = new ArrayList<>();
    List<Value> places = new ArrayList<>();
    for (Part part : parts(terms, x, op.axis(), size)) {
      long k = Math.min(most, part.value().type().shape().extent(op.axis()));
      List<Value> own = top(terms, op, k, part.value());
      values.add(own.get(0));
      places.add(from(terms, own.get(1), part.start()));
    }
    List<Value> best = top(terms, op, most, terms.concat(op.axis(), values));
    Value all = terms.concat(op.axis(), places);
    Value indices = terms.graph().add(new Movement.GatherElements(op.axis()), all, best.get(1));
    terms.graph().replace(node.results().get(1), indices);
    return Optional.of(best.getFirst());
  }

  private static List<Value> top(Terms terms, Reduction.TopK op, long k, Value x) {
    Reduction.TopK own = new Reduction.TopK(k, op.axis(), op.largest());
    return terms.graph().addNode(own, List.of(x)).results();
  }

  private Optional<Value> cumulative(Terms terms, Reduction.Cumulative op, Value x) {
    long each = 2 * LongLines.bytes(x.type().element());
    long size = lines.part(x.type().shape(), op.axis(), each);
    if (size == x.type().shape().extent(op.axis())) {
      return Optional.empty();
    }
    ReductionKind kind = op.product() ? ReductionKind.PRODUCT : ReductionKind.SUM;
    BinaryFunction join = op.product() ? BinaryFunction.MUL : BinaryFunction.ADD;
    Reduction.Reduce total = new Reduction.Reduce(kind, List.of(op.axis()), true);
    List<Part> parts = parts(terms, x, op.axis(), size);
    List<Value> results = new ArrayList<>();
    Value before = null;
    for (Part part : op.reverse() ? parts.reversed() : parts) {
      Value own = terms.graph().add(op, part.value());
      results.add(before == null ? own : terms.binary(join, own, before));
      Value sum = terms.graph().add(total, part.value());
      before = before == null ? sum : terms.binary(join, before, sum);
    }
    return Optional.of(terms.concat(op.axis(), op.reverse() ? results.reversed() : results));
  }
}
