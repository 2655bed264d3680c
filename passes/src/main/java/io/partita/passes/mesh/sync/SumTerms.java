package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.propagate.LayoutInference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The terms of a sum: one of each device, and those that all devices have, such as the bias and the
 * skip connection, which need not be sent.
 *
 * @param whole the terms that all devices have
 * @param term the partial rest
 */
record SumTerms(Optional<Value> whole, Optional<Value> term) {
  static SumTerms of(SumSync sync, LayoutInference layouts, GraphEditor graph) {
    Value sum = sync.node().operand(0);
    SumTerms parts = of(sum, layouts, graph);
    boolean isLikeSum = parts.term().filter(term -> term.type().equals(sum.type())).isPresent();
    return isLikeSum ? parts : new SumTerms(Optional.empty(), Optional.of(sum));
  }

  private static SumTerms of(Value sum, LayoutInference layouts, GraphEditor graph) {
    Node node = sum.definition();
    if (node == null) {
      return new SumTerms(Optional.empty(), Optional.of(sum));
    } else if (node.op() instanceof Communication.Reshard
        && DroppedSync.isWhole(layouts.layout(node.operand(0)), layouts.layout(sum))) {
      return new SumTerms(Optional.of(node.operand(0)), Optional.empty());
    } else if (node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD
        && node.operands().stream().allMatch(operand -> fills(operand, sum, layouts))) {
      return of(node.operand(0), layouts, graph).plus(of(node.operand(1), layouts, graph), graph);
    }
    Op product = DroppedSync.withoutBias(node);
    if (product != null && !layouts.layout(DroppedSync.bias(node)).partial().isEmpty()) {
      int bias = node.operands().size() - 1;
      Value unbiased = graph.add(product, node.operands().subList(0, bias));
      return new SumTerms(Optional.empty(), Optional.of(unbiased))
          .plus(of(node.operand(bias), layouts, graph), graph);
    }
    return new SumTerms(Optional.empty(), Optional.of(sum));
  }

  /** Whether it is a partial operand of the shape of the sum or of a bias. */
  private static boolean fills(Value operand, Value sum, LayoutInference layouts) {
    return !layouts.layout(operand).partial().isEmpty()
        && operand.type().element() == sum.type().element();
  }

  private SumTerms plus(SumTerms other, GraphEditor graph) {
    return new SumTerms(plus(whole, other.whole, graph), plus(term, other.term, graph));
  }

  private static Optional<Value> plus(Optional<Value> a, Optional<Value> b, GraphEditor graph) {
    return a.isPresent() && b.isPresent()
        ? Optional.of(graph.add(new Elementwise.Binary(BinaryFunction.ADD), a.get(), b.get()))
        : a.or(() -> b);
  }

  /** Returns the stacked terms {@code [sizes..., ...]}, each on its device. */
  static Value stacked(Value term, SumSync sync, GraphEditor graph) {
    Value value = term;
    for (String axis : sync.axes()) {
      value = graph.add(new Communication.Localize(axis), value);
    }
    for (int i = sync.axes().size() - 1; i >= 0; i--) {
      Exit exit = new Exit.Stack(sync.sizes().get(i));
      value = graph.add(new Communication.Settle(sync.axes().get(i), exit), value);
    }
    return value;
  }

  /** Moves stacked terms by the algorithm of their sum. */
  static Value sync(SumSync sync, Value value, Layout from, Layout to, GraphEditor graph) {
    Communication.Sync before = (Communication.Sync) sync.node().op();
    return graph.add(
        new Communication.Sync(
            new Resharding(from, to).kinds(), to, before.algorithm(), Codec.EXACT),
        value);
  }

  /** Returns the layout of stacked terms. */
  static Layout layout(SumSync sync, Layout of, int rank) {
    List<Split> splits = new ArrayList<>();
    for (int dim = 0; dim < rank; dim++) {
      splits.add(
          dim < sync.axes().size()
              ? Split.even(of.mesh(), sync.sizes().get(dim), sync.axes().get(dim))
              : Split.NONE);
    }
    return Layout.replicated(of.mesh(), rank).with(splits).withAt(of.at());
  }
}
