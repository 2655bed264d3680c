package io.partita.passes.graph.speculate;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/**
 * Adds the approximation of an attention, and its verification. Keys are cut into chunks from the
 * first one on. The approximation reads the first chunk and the chunk of the query, up to the
 * query.
 */
public final class SpeculatedAttention {
  private final GraphEditor graph;
  private final Speculation options;
  private final Attention op;
  private final List<Value> operands;

  public SpeculatedAttention(GraphEditor graph, Speculation options, Node attention) {
    this.graph = graph;
    this.options = options;
    this.op = (Attention) attention.op();
    this.operands = graph.operands(attention);
  }

  /** Whether queries have positions among the keys, and only the position hides keys. */
  public static boolean isPossible(Node node) {
    return node.op() instanceof Attention attention
        && !attention.isInteger()
        && !attention.mask()
        && (attention.causal() || attention.keyLength())
        && node.operand(0).type().isStatic()
        && node.operand(1).type().isStatic()
        && attention.offset().isStatic()
        && node.operand(0).type().dim(0).is(1);
  }

  /** Whether this attention takes one token and reads a cache. */
  public static boolean readsCache(Node node) {
    return ((Attention) node.op()).keyLength() && node.operand(0).type().dim(2).is(1);
  }

  private Value queries() {
    return operands.getFirst();
  }

  private long keys() {
    return operands.get(1).type().shape().extent(2);
  }

  private boolean isOneQuery() {
    return queries().type().dim(2).is(1);
  }

  /**
   * Adds the approximate attention. A single query reads only two chunks of the keys; several
   * queries read all keys through a mask, since their chunks differ.
   */
  public Value approximation() {
    return approximation(queries());
  }

  /**
   * Adds the approximate attention of other queries at the same positions.
   *
   * @param queries such as those that only some devices have
   */
  public Value approximation(Value queries) {
    return isOneQuery() ? ofTwoChunks(queries) : ofMaskedKeys(queries);
  }

  private Value ofTwoChunks(Value queries) {
    long chunk = options.chunk();
    Value position = positions(1);
    Value begin = binary(BinaryFunction.MUL, chunkOf(position), number(chunk));
    Value first = iota(chunk);
    Value own = binary(BinaryFunction.ADD, begin, first);
    Value isOther = binary(BinaryFunction.GREATER_OR_EQUAL, begin, number(chunk));
    Value seen =
        graph.add(
            new Movement.Concat(0),
            isSeen(first, position),
            binary(BinaryFunction.AND, isSeen(own, position), isOther));
    Value mask = graph.add(new Movement.Reshape(Shape.of(1, 1, 1, 2 * chunk)), seen);
    Value place = binary(BinaryFunction.MIN, own, number(keys() - 1));
    return graph.add(
        new Attention(op.scale(), op.softCap(), false, Dim.ZERO, 0, true, false),
        queries,
        chunks(operands.get(1), place),
        chunks(operands.get(2), place),
        mask);
  }

  /** The first chunk of keys or values, and those at some places. */
  private Value chunks(Value all, Value places) {
    Shape shape = all.type().shape();
    Value first =
        graph.add(
            new Movement.Slice(
                List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.ZERO),
                shape.with(2, Dim.of(options.chunk())).dims(),
                List.of(1L, 1L, 1L, 1L)),
            all);
    return graph.add(new Movement.Concat(2), first, graph.add(new Movement.Gather(2), all, places));
  }

  private Value ofMaskedKeys(Value queries) {
    long seq = queries().type().shape().extent(2);
    Value tokens = iota(keys());
    Value begin = binary(BinaryFunction.MUL, chunkOf(positions(seq)), number(options.chunk()));
    Value mask =
        binary(
            BinaryFunction.OR,
            binary(BinaryFunction.LESS, tokens, number(options.chunk())),
            binary(BinaryFunction.GREATER_OR_EQUAL, tokens, begin));
    List<Value> masked = new ArrayList<>(List.of(queries));
    masked.addAll(operands.subList(1, 3));
    masked.add(mask);
    masked.addAll(operands.subList(3, operands.size()));
    return graph.add(
        new Attention(
            op.scale(), op.softCap(), op.causal(), op.offset(), op.window(), true, op.keyLength()),
        masked);
  }

  /** The positions of the queries, {@code i64[1]} or {@code i64[seq, 1]}. */
  private Value positions(long seq) {
    Value last =
        op.keyLength()
            ? binary(BinaryFunction.SUB, operands.getLast(), number(seq))
            : graph.constant(Tensor.longs(Shape.of(1), new long[] {op.offset().value()}));
    return seq == 1
        ? last
        : binary(
            BinaryFunction.ADD,
            last,
            graph.constant(Tensor.longs(Shape.of(seq, 1), LongStream.range(0, seq).toArray())));
  }

  private Value isSeen(Value tokens, Value position) {
    Value past = binary(BinaryFunction.LESS_OR_EQUAL, tokens, position);
    if (op.window() == 0) {
      return past;
    }
    Value oldest = binary(BinaryFunction.SUB, position, number(op.window()));
    return binary(BinaryFunction.AND, past, binary(BinaryFunction.GREATER, tokens, oldest));
  }

  private Value chunkOf(Value position) {
    return binary(BinaryFunction.DIV, position, number(options.chunk()));
  }

  /**
   * Adds {@code ||Ã - A||² < lambda² ||A||²} for each query, over all heads and their features:
   * {@code bool[1, 1, seq, 1]}.
   *
   * @param joined makes a sum over heads whole, where devices have their own heads
   */
  public Value accepted(Value approximate, Value exact, UnaryOperator<Value> joined) {
    Value a = wide(exact);
    Value distance = joined.apply(squares(binary(BinaryFunction.SUB, wide(approximate), a)));
    double squared = options.lambda() * options.lambda();
    Value bound =
        binary(
            BinaryFunction.MUL,
            joined.apply(squares(a)),
            graph.constant(Tensor.scalar(a.type().element(), squared)));
    return binary(BinaryFunction.LESS, distance, bound);
  }

  private Value wide(Value value) {
    return value.type().element() == ElementType.F64 || value.type().element() == ElementType.F32
        ? value
        : graph.add(new Elementwise.Cast(ElementType.F32), value);
  }

  private Value squares(Value value) {
    return graph.add(
        new Reduction.Reduce(ReductionKind.SUM, List.of(1, 3), true),
        binary(BinaryFunction.MUL, value, value));
  }

  private Value iota(long size) {
    return graph.constant(Tensor.longs(Shape.of(size), LongStream.range(0, size).toArray()));
  }

  private Value number(long value) {
    return graph.constant(Tensor.scalar(ElementType.I64, value));
  }

  private Value binary(BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }
}
