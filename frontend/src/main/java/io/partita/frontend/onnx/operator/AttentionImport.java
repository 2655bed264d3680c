package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * ONNX Attention, versions 23 to 25. It becomes the attention operation, or primitive operations if
 * the node also outputs its scores or needs a softmax of lower precision.
 */
final class AttentionImport {
  private static final int MASK = 3;
  private static final int PAST_KEY = 4;
  private static final int PAST_VALUE = 5;
  private static final int KEY_LENGTH = 6;

  private final NodeScope node;
  private final Arithmetic of;
  private final boolean joined;
  private final Value q;
  private final Value k;
  private final Value v;
  private final ElementType element;
  private final double scale;

  private AttentionImport(NodeScope node) {
    this.node = node;
    this.of = new Arithmetic(node);
    this.joined = node.shape(0).rank() == 3;
    this.q = split(node.input(0), "q_num_heads");
    this.k = withPast(split(node.input(1), "kv_num_heads"), PAST_KEY);
    this.v = withPast(split(node.input(2), "kv_num_heads"), PAST_VALUE);
    this.element = q.type().element();
    this.scale = scale();
  }

  static void convert(NodeScope node) {
    new AttentionImport(node).convert();
  }

  private Value split(Value x, String heads) {
    Value four = joined ? AttentionOperators.splitHeads(node, x, Dim.of(node.integer(heads))) : x;
    if (four.type().rank() != 4) {
      throw node.invalid("operands [batch, heads, seq, size]", x.type().toString());
    }
    return four;
  }

  private Value withPast(Value now, int past) {
    return node.has(past) ? of.concat(2, node.input(past), now) : now;
  }

  private double scale() {
    Dim size = q.type().dim(3);
    if (!node.hasAttribute("scale") && !size.isStatic()) {
      throw node.unsupported("a head size " + size, "bind the dimensions with --dim");
    }
    return node.hasAttribute("scale") ? node.number("scale") : 1 / Math.sqrt(size.value());
  }

  private Dim queries() {
    return q.type().dim(2);
  }

  private Dim keys() {
    return k.type().dim(2);
  }

  /** Returns the number of positions before the first query. */
  private Dim offset() {
    return node.has(PAST_KEY) ? node.shape(PAST_KEY).dim(2) : Dim.ZERO;
  }

  private void convert() {
    if (node.has(PAST_KEY) != node.has(PAST_VALUE)) {
      throw node.invalid("past keys and past values together", "one of them");
    }
    Value y = isPlain() ? decomposed() : structured();
    node.output(0, joined ? AttentionOperators.joinHeads(node, y) : y);
    node.output(1, k);
    node.output(2, v);
  }

  /** Whether scores are an output, or are rounded to fewer bits than the queries. */
  private boolean isPlain() {
    ElementType precision = node.element("softmax_precision", element);
    boolean rounds = precision.bits() < element.bits();
    return node.wants(3) || rounds || v.type().element() != element;
  }

  private long leftWindow() {
    return node.integer("left_window_size", -1);
  }

  private long rightWindow() {
    return node.integer("right_window_size", -1);
  }

  /** Whether keys after the query's position are hidden, by the causal attribute or by a window. */
  private boolean isCausal() {
    return node.flag("is_causal", false) || rightWindow() == 0;
  }

  private Value structured() {
    List<Value> operands = new ArrayList<>(List.of(q, k, v));
    // The operation supports windows of causal attention; other windows are masks.
    boolean ownWindow = leftWindow() < 0 || isCausal();
    boolean masked = node.has(MASK) || hasWindowMask(ownWindow);
    if (masked) {
      operands.add(mask(ownWindow));
    }
    if (node.has(KEY_LENGTH)) {
      operands.add(keyLengths());
    }
    return node.add(
        new Structured.Attention(
            scale,
            node.number("softcap", 0),
            isCausal(),
            offset(),
            ownWindow && leftWindow() >= 0 ? leftWindow() + 1 : 0,
            masked,
            node.has(KEY_LENGTH)),
        operands);
  }

  private Value keyLengths() {
    return of.cast(of.reshape(node.input(KEY_LENGTH), Shape.of(q.type().dim(0))), ElementType.I64);
  }

  private boolean hasWindowMask(boolean ownWindow) {
    return leftWindow() >= 0 && !ownWindow || rightWindow() > 0 && !isCausal();
  }

  private Value mask(boolean ownWindow) {
    Value mask = node.has(MASK) ? padded(node.input(MASK)) : null;
    if (!hasWindowMask(ownWindow)) {
      return mask;
    }
    Value window = null;
    if (leftWindow() >= 0 && !ownWindow) {
      window = within(BinaryFunction.GREATER_OR_EQUAL, of.add(queryPositions(), -leftWindow()));
    }
    if (rightWindow() > 0) {
      Value right = within(BinaryFunction.LESS_OR_EQUAL, of.add(queryPositions(), rightWindow()));
      window = window == null ? right : of.binary(BinaryFunction.AND, window, right);
    }
    if (mask == null) {
      return window;
    }
    return mask.type().element() == ElementType.BOOL
        ? of.binary(BinaryFunction.AND, mask, window)
        : of.add(mask, additive(window, mask.type().element()));
  }

  /**
   * Pads a mask that is shorter than the keys; the padding hides keys. Before version 24, a mask of
   * one key broadcasts.
   */
  private Value padded(Value mask) {
    if (mask.type().rank() == 0) {
      return mask;
    }
    Dim length = mask.type().shape().fromEnd(0);
    if (length.equals(keys()) || length.is(1) && node.opset() < 24) {
      return mask;
    }
    Dim missing = keys().minus(length);
    if (!missing.isStatic()) {
      return mask;
    }
    if (missing.value() < 0) {
      throw node.invalid("a mask over at most " + keys() + " keys", mask.type().toString());
    }
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int axis = 0; axis < mask.type().rank(); axis++) {
      low.add(0L);
      high.add(axis == mask.type().rank() - 1 ? missing.value() : 0);
    }
    ElementType type = mask.type().element();
    Value filler =
        type == ElementType.BOOL
            ? node.constant(Tensor.scalar(type, 0))
            : AttentionOperators.negativeInfinity(node, type);
    return node.add(new Movement.Pad(Movement.PadMode.CONSTANT, low, high), mask, filler);
  }

  /**
   * Returns positions {@code [queries, 1]}, or {@code [batch, 1, queries, 1]} if lengths differ.
   */
  private Value queryPositions() {
    Value index =
        of.reshape(AttentionOperators.positions(of, queries()), Shape.of(queries(), Dim.ONE));
    if (node.has(KEY_LENGTH) && !node.has(PAST_KEY)) {
      Shape perBatch = Shape.of(q.type().dim(0), Dim.ONE, Dim.ONE, Dim.ONE);
      Value first = of.sub(of.reshape(keyLengths(), perBatch), of.extent(queries()));
      return of.add(index, first);
    }
    return offset().is(0) ? index : of.add(index, of.extent(offset()));
  }

  /** Whether {@code key (compared) bound}. */
  private Value within(BinaryFunction compared, Value bound) {
    return of.binary(compared, AttentionOperators.positions(of, keys()), bound);
  }

  private Value additive(Value allowed, ElementType type) {
    Value zero = node.constant(Tensor.scalar(type, 0));
    return of.select(allowed, zero, AttentionOperators.negativeInfinity(node, type));
  }

  /** Combines mask, causality, windows and lengths into one additive mask. */
  private Value bias() {
    List<Value> parts = new ArrayList<>();
    Value mask = node.has(MASK) || hasWindowMask(false) ? mask(false) : null;
    if (mask != null) {
      parts.add(mask.type().element() == ElementType.BOOL ? additive(mask, element) : mask);
    }
    if (isCausal()) {
      parts.add(additive(within(BinaryFunction.LESS_OR_EQUAL, queryPositions()), element));
    }
    if (node.has(KEY_LENGTH)) {
      Value length = of.reshape(keyLengths(), Shape.of(q.type().dim(0), Dim.ONE, Dim.ONE, Dim.ONE));
      parts.add(additive(within(BinaryFunction.LESS, length), element));
    }
    Value zero = of.filled(node.constant(Tensor.scalar(element, 0)), Shape.of(queries(), keys()));
    return parts.stream().reduce(zero, of::add);
  }

  private Value decomposed() {
    // √scale on both sides, as ONNX writes it, keeps half precision from overflowing.
    double root = Math.sqrt(scale);
    Value scores =
        node.add(
            new Contraction.MatMul(element),
            of.mul(q, root),
            of.mul(of.transpose(repeated(k), 0, 1, 3, 2), root));
    Value raw = scores;
    double cap = node.number("softcap", 0);
    if (cap > 0) {
      Value bounded = of.unary(UnaryFunction.TANH, of.binary(BinaryFunction.DIV, scores, cap));
      scores = of.mul(bounded, cap);
    }
    Value capped = scores;
    Value bias = bias();
    Value biased = of.add(scores, bias);
    ElementType precision = node.element("softmax_precision", element);
    Value probabilities = node.add(new Reduction.Softmax(3, false), of.cast(biased, precision));
    Value hidden =
        of.unary(
            UnaryFunction.IS_NEGATIVE_INFINITY,
            of.reduce(ReductionKind.MAX, bias, List.of(bias.type().rank() - 1), true));
    Value weights =
        of.cast(of.select(hidden, node.scalarLike(probabilities, 0), probabilities), element);
    node.output(
        3,
        switch ((int) node.integer("qk_matmul_output_mode", 0)) {
          case 0 -> raw;
          case 1 -> capped;
          case 2 -> biased;
          case 3 -> weights;
          default -> throw node.invalid("qk_matmul_output_mode 0 to 3", "another one");
        });
    Value values = repeated(v);
    return node.add(
        new Contraction.MatMul(values.type().element()),
        of.cast(weights, values.type().element()),
        values);
  }

  /** Repeats each kv head for the query heads that share it. */
  private Value repeated(Value x) {
    Shape shape = x.type().shape();
    Dim times = q.type().dim(1).dividedExactlyBy(shape.dim(1));
    if (times == null) {
      throw node.invalid("a multiple of the kv heads", q.type().dim(1) + " and " + shape.dim(1));
    }
    if (times.is(1)) {
      return x;
    }
    Shape spread = shape.insert(2, Dim.ONE);
    Value copies = of.broadcast(of.reshape(x, spread), spread.with(2, times));
    return of.reshape(copies, shape.with(1, q.type().dim(1)));
  }
}
