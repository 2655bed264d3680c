package io.partita.passes.graph.raise.integer;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.constant;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.sub;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code quantize(relu(f32(sums) scale + b), step, zero) -> requantize(sums + bias, multiplier,
 * addend)}, where the sums are those of a product of bytes, and the bias and the rectifier may be
 * missing: from integers to integers, without floats. {@link FixedPoint} states the difference.
 */
final class RequantizeSums implements RewriteRule {
  private static final Capture<Value> PRODUCT = Capture.of("product");
  private static final Capture<Value> CORRECTION = Capture.of("correction");
  private static final Capture<Value> SUBTRACTED = Capture.of("subtracted");
  private static final Capture<Value> SCALE = Capture.of("scale");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Capture<Value> RECTIFIED = Capture.of("rectified");

  private static final Pattern BYTES =
      any(PRODUCT)
          .where(
              value ->
                  !value.isInput()
                      && value.definition().op() instanceof MatMul(var result)
                      && result == ElementType.I32
                      && value.definition().operands().stream()
                          .allMatch(factor -> factor.type().element().bits() == Byte.SIZE))
          .once();
  private static final Pattern SUMS =
      either(
          add(BYTES, constant(CORRECTION)).once(), sub(BYTES, constant(SUBTRACTED)).once(), BYTES);
  private static final Pattern SCALED =
      mul(
              op(Elementwise.Cast.class, cast -> cast.to() == ElementType.F32, SUMS).once(),
              constant(SCALE))
          .once();
  private static final Pattern BIASED = either(add(SCALED, constant(BIAS)).once(), SCALED);
  private static final Pattern REAL =
      either(unary(UnaryFunction.RELU, BIASED).as(RECTIFIED).once(), BIASED);

  /** The largest magnitude of a product of bytes. */
  private static final int LARGEST_PRODUCT = 255 * 255;

  @Override
  public Class<? extends Op> root() {
    return Quantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(0, REAL);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Quantize quantize = (Quantize) node.op();
    Tensor step = graph.constant(graph.operand(node, 1)).orElse(null);
    Tensor zero = graph.constant(graph.operand(node, 2)).orElse(null);
    Node product = match.get(PRODUCT).definition();
    Dim depth = product.operand(0).type().shape().fromEnd(0);
    Dim columns = product.result().type().shape().fromEnd(0);
    boolean isKnown = step != null && step.size() == 1 && zero != null;
    if (!quantize.to().isByte() || !isKnown || !depth.isStatic() || !columns.isStatic()) {
      return Optional.empty();
    }
    int count = Math.toIntExact(columns.value());
    Optional<double[]> scales = vector(graph, match.get(SCALE), count);
    Optional<double[]> biases = optional(graph, match, BIAS, count);
    Optional<double[]> corrections = corrections(graph, match, count);
    if (scales.isEmpty() || biases.isEmpty() || corrections.isEmpty()) {
      return Optional.empty();
    }
    double[] factors = new double[count];
    double[] offsets = new double[count];
    double correction = 0;
    for (int i = 0; i < count; i++) {
      factors[i] = scales.get()[i] / step.getDouble(0);
      offsets[i] = biases.get()[i] / step.getDouble(0) + zero.getLong(0);
      correction = Math.max(correction, Math.abs(corrections.get()[i]));
    }
    long largest = depth.value() * LARGEST_PRODUCT + (long) correction;
    return FixedPoint.of(factors, offsets, largest)
        .map(point -> requantized(node, match, point, corrections.get(), graph));
  }

  private static Value requantized(
      Node node, Match match, FixedPoint point, double[] corrections, GraphEditor graph) {
    ElementType to = ((Quantize) node.op()).to();
    long[] bias = point.bias().longs().clone();
    boolean isBiased = false;
    for (int i = 0; i < bias.length; i++) {
      bias[i] += (long) corrections[i];
      isBiased |= bias[i] != 0;
    }
    Value sums = match.get(PRODUCT);
    if (isBiased) {
      sums =
          graph.add(
              new Elementwise.Binary(BinaryFunction.ADD),
              sums,
              graph.constant(Tensor.ofLongs(point.bias().type(), bias)));
    }
    long zero = graph.constant(graph.operand(node, 2)).orElseThrow().getLong(0);
    long low = match.has(RECTIFIED) ? Math.max(zero, to.minimum()) : to.minimum();
    return graph.add(
        point.requantize(low, to.maximum(), to),
        sums,
        graph.constant(point.multiplier()),
        graph.constant(point.addend()));
  }

  private static Optional<double[]> corrections(GraphEditor graph, Match match, int count) {
    boolean isSubtracted = match.has(SUBTRACTED);
    Optional<double[]> found =
        optional(graph, match, isSubtracted ? SUBTRACTED : CORRECTION, count);
    for (int i = 0; isSubtracted && found.isPresent() && i < count; i++) {
      found.get()[i] = -found.get()[i];
    }
    return found;
  }

  private static Optional<double[]> optional(
      GraphEditor graph, Match match, Capture<Value> capture, int count) {
    return !match.has(capture)
        ? Optional.of(new double[count])
        : vector(graph, match.get(capture), count);
  }

  /** Returns the elements of a constant vector along the last axis, or a repeated scalar. */
  private static Optional<double[]> vector(GraphEditor graph, Value value, int count) {
    Tensor data = graph.constant(value).orElse(null);
    boolean isVector =
        data != null
            && (data.size() == 1 || data.size() == count && data.shape().fromEnd(0).is(count));
    if (!isVector) {
      return Optional.empty();
    }
    double[] all = new double[count];
    for (int i = 0; i < count; i++) {
      all[i] = data.getDouble(data.size() == 1 ? 0 : i);
    }
    return Optional.of(all);
  }
}
